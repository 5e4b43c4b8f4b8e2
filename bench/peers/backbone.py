"""The encoder of a Waymark model as a BERT that other programs load.

    python backbone.py MODEL FOLDER

The weights come out of the 8-bit graph that Waymark ships, so that whoever is measured
beside it runs the same network. FOLDER becomes a sentence-transformers model with mean
pooling, in the form for each of the peers:

    model.safetensors        32-bit floats
    onnx/model.onnx          the same, as optimum exports it
    onnx/model_int8.onnx     that in 8 bits, as sentence-transformers quantises it
    hugot/                   both graphs, beside the tokenizer, which is where hugot looks for them
    f32.gguf, q8_0.gguf      for llama.cpp

FOLDER is complete once it holds a copy of the model's waymark.json, and not made again.
"""
import argparse
import filecmp
import json
import platform
import shutil
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

import gguf_file


def main():
    ap = argparse.ArgumentParser(description="Writes the encoder of a Waymark model as a BERT that other programs load.")
    ap.add_argument("model", type=Path, help="Waymark model directory")
    ap.add_argument("folder", type=Path)
    args = ap.parse_args()
    make(args.model, args.folder)


def make(model, folder):
    """Makes the folder, unless it is there already for this model."""
    stamp = folder / "waymark.json"
    if stamp.exists() and filecmp.cmp(model / "waymark.json", stamp, shallow=False):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec = json.loads((model / "waymark.json").read_text())
    weights = read(model / spec["weights"]["file"])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    describe(model, folder)
    export(folder)
    for kind in ("f32", "q8_0"):
        gguf_file.write(folder, weights, kind)
    shutil.copy(model / "waymark.json", stamp)


def read(graph):
    """The weights of Waymark's graph in 32 bits, under the names of Hugging Face's BertModel."""
    constants = {c.name: numpy_helper.to_array(c) for c in onnx.load(graph).graph.initializer}

    def value(name):
        """A constant; one in 8 bits comes back in 32."""
        if name in constants:
            return constants[name]
        scale, zero = constants[f"{name}_scale"], constants[f"{name}_zero_point"]
        return (constants[f"{name}_quantized"].astype(numpy.float32) - zero.astype(numpy.float32)) * scale

    def divisors(name):
        """What the channels of the states were divided by, which the others know nothing of."""
        return constants.get(f"{name}.divisors", numpy.float32(1))

    out = {
        "embeddings.word_embeddings.weight": value("words.table"),
        "embeddings.position_embeddings.weight": value("positions.table"),  # token type 0 is in it
    }
    width = out["embeddings.word_embeddings.weight"].shape[1]
    out["embeddings.token_type_embeddings.weight"] = numpy.zeros((2, width))
    out["pooler.dense.weight"], out["pooler.dense.bias"] = numpy.zeros((width, width)), numpy.zeros(width)

    def norm(name, ours, factor):
        for part in ("weight", "bias"):
            out[f"{name}.{part}"] = value(f"{ours}.{part}") * factor

    def linear(name, ours, factor=1):
        out[f"{name}.weight"] = value(f"{ours}.product.weight").T / factor
        out[f"{name}.bias"] = value(f"{ours}.bias")

    norm("embeddings.LayerNorm", "embeddings.norm", divisors("layers.0.attention.residual"))
    layer = 0
    while f"layers.{layer}.attention.query.bias" in constants:
        ours, name = f"layers.{layer}", f"encoder.layer.{layer}"
        inner, outer = divisors(f"{ours}.attention.residual"), divisors(f"{ours}.residual")
        for part in ("query", "key", "value"):
            linear(f"{name}.attention.self.{part}", f"{ours}.attention.{part}", inner)
        linear(f"{name}.attention.output.dense", f"{ours}.attention.output")
        norm(f"{name}.attention.output.LayerNorm", f"{ours}.attention_norm", outer)
        linear(f"{name}.intermediate.dense", f"{ours}.up", outer)
        linear(f"{name}.output.dense", f"{ours}.down")
        if f"{ours}.split.bias" in constants:  # hidden channels that the graph keeps in 32 bits
            up, down = f"{name}.intermediate.dense", f"{name}.output.dense.weight"
            out[f"{up}.weight"] = numpy.vstack([out[f"{up}.weight"], value(f"{ours}.split.up.float.weight").T / outer])
            out[f"{up}.bias"] = numpy.concatenate([out[f"{up}.bias"], value(f"{ours}.split.bias")])
            out[down] = numpy.hstack([out[down], value(f"{ours}.split.down.float.weight").T])
        layer += 1
        norm(f"{name}.output.LayerNorm", f"{ours}.output_norm", divisors(f"layers.{layer}.attention.residual"))
    return {name: numpy.ascontiguousarray(w, dtype=numpy.float32) for name, w in out.items()}


def describe(model, folder):
    """Writes what loaders want to know beside the weights."""
    config = json.loads((model / "config.json").read_text())
    config |= {"architectures": ["BertModel"], "model_type": "bert", "type_vocab_size": 2}
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(model / name, folder / name)
    names = ("cls_token", "mask_token", "pad_token", "sep_token", "unk_token")
    tokens = json.loads((model / "tokenizer_config.json").read_text())
    (folder / "special_tokens_map.json").write_text(json.dumps({name: tokens[name] for name in names}))
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 512, "do_lower_case": false}')
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": config["hidden_size"], "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "2_Normalize").mkdir()


def export(folder):
    """Writes the two ONNX graphs the way the manual of sentence-transformers says."""
    from sentence_transformers import SentenceTransformer, export_dynamic_quantized_onnx_model

    model = SentenceTransformer(str(folder), backend="onnx", device="cpu", model_kwargs={"export": True})
    model.save_pretrained(str(folder))
    export_dynamic_quantized_onnx_model(model, processor(), str(folder))
    (folder / "onnx" / f"model_qint8_{processor()}.onnx").rename(folder / "onnx" / "model_int8.onnx")
    (folder / "hugot").mkdir()
    for name in ("onnx/model.onnx", "onnx/model_int8.onnx", "tokenizer.json", "config.json", "special_tokens_map.json"):
        (folder / "hugot" / Path(name).name).hardlink_to(folder / name)


def processor():
    """The kind of processor that the 8-bit graph is made for, in optimum's names."""
    if platform.machine() in ("arm64", "aarch64"):
        return "arm64"
    cpuinfo = Path("/proc/cpuinfo")
    return "avx512_vnni" if cpuinfo.exists() and "avx512_vnni" in cpuinfo.read_text() else "avx2"


if __name__ == "__main__":
    main()
