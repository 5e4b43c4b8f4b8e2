"""What the manual of LlamaIndex makes of a folder: read, split, embed, keep, and search.

    python llamaindex.py index BACKBONE FILE STORE DIR
    python llamaindex.py query BACKBONE FILE STORE QUESTION

BACKBONE is what backbone.py makes; FILE is a graph in its folder onnx, or torch. Chunks are of 128
tokens, as Waymark's are. Prints how many chunks there are, or the place of each of the ten best.
"""
import sys

from llama_index.core import Settings, SimpleDirectoryReader, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.node_parser import SentenceSplitter
from llama_index.embeddings.huggingface import HuggingFaceEmbedding


def main():
    action, backbone, file, store, what = sys.argv[1:]
    options = {} if file == "torch" else {"backend": "onnx", "model_kwargs": {"file_name": file, "provider": "CPUExecutionProvider"}}
    Settings.embed_model = HuggingFaceEmbedding(
        backbone, device="cpu", query_instruction="query: ", text_instruction="passage: ", embed_batch_size=8, **options
    )
    if action == "index":
        documents = SimpleDirectoryReader(what, recursive=True).load_data()
        splitter = SentenceSplitter(chunk_size=128, chunk_overlap=0)
        index = VectorStoreIndex.from_documents(documents, transformations=[splitter])
        index.storage_context.persist(store)
        print(len(index.docstore.docs), "chunks")
        return
    index = load_index_from_storage(StorageContext.from_defaults(persist_dir=store))
    for hit in index.as_retriever(similarity_top_k=10).retrieve(what):
        print(hit.node.metadata["file_name"], hit.node.start_char_idx, hit.node.end_char_idx)


if __name__ == "__main__":
    main()
