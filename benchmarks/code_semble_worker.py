"""How does semble answer over a pipe?

Run by ``benchmarks.code_semble`` with the Python of semble's own environment; it needs nothing of ours. One
JSON object a line comes in, one goes out, in order. Times are taken here.
"""

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any


def main(model_path: str) -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not end up between the answers
    index_of = importlib.import_module("semble").SembleIndex
    importlib.import_module("semble.index.dense").load_model(model_path)
    packages = ("semble", "model2vec", "semble-grammars", "numpy")
    reply: dict[str, Any] = {package: version(package) for package in packages}
    reply["model"] = Path(model_path).name
    index: Any = None
    while True:
        print(json.dumps(reply), file=answers, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        asked = json.loads(line)
        begin = time.perf_counter()
        if "root" in asked:
            index = index_of.from_path(asked["root"], model_path=model_path)
            seconds = time.perf_counter() - begin
            if index.loaded_from_disk:
                raise RuntimeError(f"semble had {asked['root']} in its cache: nothing was measured")
            reply = {"files": index.stats.indexed_files, "chunks": len(index.chunks), "seconds": seconds}
        else:
            found = index.search(asked["query"], top_k=asked["k"])
            seconds = time.perf_counter() - begin
            places = [[hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line] for hit in found]
            reply = {"places": places, "seconds": seconds}


if __name__ == "__main__":
    main(sys.argv[1])
