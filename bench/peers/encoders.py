"""Turns texts into vectors with one of the peers in Python, for encode.py to measure.

    python encoders.py st-torch|st-onnx|fastembed|llama.cpp BACKBONE FILE

BACKBONE is what backbone.py makes, FILE the weights in it (none for st-torch). As many threads
are used as OMP_NUM_THREADS says.
"""
import http.client
import json
import os
import sys
from importlib import metadata

import worker

THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))


def sentence_transformers_torch(folder, _):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(THREADS)
    model = SentenceTransformer(folder, device="cpu")
    return f"{metadata.version('sentence-transformers')}, torch {metadata.version('torch')}", model.encode


def sentence_transformers_onnx(folder, file):
    import onnxruntime
    from sentence_transformers import SentenceTransformer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    settings = {"file_name": file, "provider": "CPUExecutionProvider", "session_options": options}
    model = SentenceTransformer(folder, backend="onnx", device="cpu", model_kwargs=settings)
    return f"{metadata.version('sentence-transformers')}, ONNX Runtime {metadata.version('onnxruntime')}", model.encode


def fastembed(folder, file):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="backbone", pooling=PoolingType.MEAN, normalization=True, sources=ModelSource(hf="backbone"), dim=384, model_file=file
    )
    model = TextEmbedding("backbone", specific_model_path=folder, threads=THREADS)
    return f"{metadata.version('fastembed')}, ONNX Runtime {metadata.version('onnxruntime')}", lambda texts, batch_size: list(model.embed(texts, batch_size=batch_size))


def llama_cpp(folder, file):
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = os.path.join(folder, file)
    p.hostnames, p.port = ["127.0.0.1"], 0
    p.embedding, p.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    p.n_parallel, p.n_ctx = 32, 32 * 512  # a text of 512 tokens for each of the most at once
    p.n_batch = p.n_ubatch = 4096
    p.verbosity, p.cache_ram_mib, p.ui, p.offline = 0, 0, False, True
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(p)
    host = server.listening_address.removeprefix("http://")

    def encode(texts, batch_size):
        _ = server  # runs as long as it is referred to
        connection, out = http.client.HTTPConnection(host), []
        for start in range(0, len(texts), batch_size):
            body = json.dumps({"input": texts[start : start + batch_size]})
            connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
            response = json.load(connection.getresponse())
            if "data" not in response:
                raise SystemExit(f"llama.cpp: {response}")
            out += [e["embedding"] for e in sorted(response["data"], key=lambda e: e["index"])]
        return out

    return f"xllamacpp {metadata.version('xllamacpp')}", encode


PEERS = {
    "st-torch": sentence_transformers_torch,
    "st-onnx": sentence_transformers_onnx,
    "fastembed": fastembed,
    "llama.cpp": llama_cpp,
}


def load(peer, folder, file=""):
    version, encode = PEERS[peer](folder, file)

    def work(request):
        vectors = encode(request["texts"], batch_size=request["batch"])
        return [[float(x) for x in v] for v in vectors] if request.get("vectors") else None

    return version, work


if __name__ == "__main__":
    worker.serve(load, *sys.argv[1:])
