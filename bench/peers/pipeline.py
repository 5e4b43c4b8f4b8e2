"""Measures whole programs that index a folder and answer from it, Waymark and others with the same network.

    python pipeline.py --waymark BINARY --gopipeline BINARY --folder FOLDER --texts SOURCE

prints a Markdown table. Each command is a process of its own, from its start to its end. The
programs take turns. FOLDER is where the network is put in the forms of the peers; SOURCE is a BEIR
folder, or a folder of .md and .txt files.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import texts
import turns

HERE = Path(__file__).resolve().parent
OURS = "Waymark"


def main():
    ap = argparse.ArgumentParser(description="Measures whole programs that index a folder and answer from it.")
    ap.add_argument("--model", type=Path, default=HERE.parents[1] / "models" / "waymark-e5-small", help="Waymark model directory")
    ap.add_argument("--waymark", type=Path, required=True, help="the program waymark")
    ap.add_argument("--gopipeline", type=Path, required=True, help="the program made of ./gopipeline")
    ap.add_argument("--folder", type=Path, required=True, help="where the network lies in the forms of the peers")
    ap.add_argument("--texts", type=Path, required=True, help="BEIR folder, or folder of .md and .txt files")
    ap.add_argument("--documents", type=int, default=12, help="how many of the texts are indexed (default: 12)")
    ap.add_argument("--rounds", type=int, default=3, help="turns of each, of which the median counts (default: 3)")
    args = ap.parse_args()
    # In a process of its own: what this one once took in memory would count as its children's, too.
    subprocess.run([sys.executable, HERE / "backbone.py", args.model, args.folder], check=True)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), args)


def programs(args, folder):
    """For each program its version, and the commands to index a folder and to ask."""
    python, go = [sys.executable, HERE / "llamaindex.py"], [args.gopipeline]
    version = metadata.version("llama-index-core")
    source = folder / "texts"

    def peer(program, backbone, file, store):
        return [*program, "index", backbone, file, store, source], [*program, "query", backbone, file, store]

    store = folder / OURS / "index.db"
    return {
        OURS: ("this checkout", ([args.waymark, "index", "--quiet", "--store", f"local:{store}", source],
                                 [args.waymark, "search", "--store", f"local:{store}"])),
        "LlamaIndex, torch, fp32": (version, peer(python, args.folder, "torch", folder / "LlamaIndex, torch, fp32")),
        "LlamaIndex, ONNX, int8": (version, peer(python, args.folder, "model_int8.onnx", folder / "LlamaIndex, ONNX, int8")),
        "langchaingo + hugot + chromem-go, int8": (go_versions("langchaingo", "hugot", "chromem-go"), peer(go, args.folder / "hugot", "model_int8.onnx", folder / "langchaingo + hugot + chromem-go, int8")),
    }


def go_versions(*names):
    """The versions of modules, by the last parts of their paths, that go.mod requires."""
    required = dict(line.split()[:2] for line in (HERE / "go.mod").read_text().splitlines() if line.startswith("\t"))
    return ", ".join(version for name in names for module, version in required.items() if module.endswith("/" + name))


def measure(folder, args):
    (folder / "texts").mkdir()
    for i, text in enumerate(texts.read(args.texts)[: args.documents]):
        (folder / "texts" / f"{i}.txt").write_text(text, encoding="utf-8")
    size = sum(f.stat().st_size for f in (folder / "texts").iterdir())
    all_programs = programs(args, folder)
    index, query = ({name: [] for name in all_programs} for _ in range(2))
    for i in range(args.rounds):
        names = list(all_programs)
        for name in names[i % len(names):] + names[: i % len(names)]:
            _, (indexing, asking) = all_programs[name]
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()
            index[name].append(run(indexing))
            query[name].append(run([*asking, "who built it, and when?"]))
            print(".", end="", file=sys.stderr, flush=True)
    print(f"\n{args.documents} files of {size / 1e6:.2f} MB in all, {os.cpu_count()} cores, {args.rounds} rounds, medians. "
          "A query is one process from start to end.\n")
    print("| program | version | index CPU s | wall s | times as long: CPU | wall | peak MB | query CPU s | wall s | times as long: CPU | wall | peak MB | MB on disk |")
    print("|" + "---|" * 13)
    for name, (version, _) in all_programs.items():
        kept = sum(f.stat().st_size for f in (folder / name).rglob("*") if f.is_file())
        print(f"| {name} | {version} |", " | ".join(column for took in (index, query) for column in columns(took, name)), f"| {kept / 1e6:.1f} |")


def columns(took, name):
    """What the table says of a program's turns at one thing."""
    def ratio(clock):
        return "{:.2f}".format(turns.ratio([t[clock] for t in took[name]], [t[clock] for t in took[OURS]])[0])

    middle = {key: statistics.median(t[key] for t in took[name]) for key in ("cpu", "wall", "memory")}
    return f"{middle['cpu']:.2f}", f"{middle['wall']:.2f}", ratio("cpu"), ratio("wall"), f"{middle['memory'] / 1e6:.0f}"


def run(command):
    """Runs a program to its end and returns the seconds and the most memory that it took."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    )
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} ended with status {status} and said: {said.decode(errors='replace')}")
    return {"wall": time.perf_counter() - begun, "cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024}


if __name__ == "__main__":
    main()
