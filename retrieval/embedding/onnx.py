"""How does a bundled model folder become something that embeds text?

Two homes are looked at: ``bundled/`` beside this file (an installed wheel) and ``models/`` at the root of a
checkout. Every file is compared with its checksum before use, because a damaged model does not
crash, it answers wrongly. ONNX Runtime and the tokenizer are imported when a model is loaded.
"""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.registry import Bundled, ModelSpec
from retrieval.errors import EncoderFailed
from retrieval.records import Vector
from retrieval.runtime import onnx_runtime

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["OnnxModel", "clip", "find_folder", "load_bundled", "load_folder"]

CHARACTERS_PER_TOKEN = 32
"""Text is cut at this many characters per token of the model's limit before it is tokenised. Prose has
5, Python 4, so what is lost lies behind long runs of blanks. Tokenising the 8,192 characters
that remain takes 2 ms; a megabyte would take 430."""

MOST_WORKERS = 4
"""Threads that embed a batch side by side; more would take a laptop away from its owner."""

UNFUSED = ["SkipLayerNormFusion"]
"""The fused operator is slower than its parts: queries 1.25 → 0.90 ms, long texts 64 → 85/s (1 thread)."""


class OnnxModel:
    """Embeds with one ONNX session. Safe to call from several threads.

    Texts run one by one, on several threads, each run on one core. Measured with int8 MiniLM on 2 cores,
    medians (query of 21 tokens; short: 40 tokens; long: 240 tokens):

    ==============================  ========  =======  ======
    session threads × batch         query ms  short/s  long/s
    ==============================  ========  =======  ======
    1 × 1, two texts side by side       0.79    1,033     148
    1 × 8, two batches side by side     0.79    1,099     132
    2 × 1                               1.14      501     113
    2 × 8                               1.14      721     131
    2 × 32                              1.14      738     125
    ==============================  ========  =======  ======

    One by one also means that a vector depends on its text alone: dynamic quantisation takes its scale from
    the whole batch, so a neighbour's padding costs accuracy. SciFact NDCG@10 with vectors alone: .651 one by
    one, .641 in batches of 8, .649 with the float32 original.

    A text past the token limit is cut, not averaged over windows. NDCG@10 with vectors alone (batches of 8),
    cut → length-weighted mean of up to 4 windows → the same, later windows weighing less: BEAM chats .446 →
    .421 → .425, CACM .445 → .434 → .440, SciFact .641 → .651 → .653. Cutting wins where texts are most like
    memories, costs half, and the keyword channel reads the rest.
    """

    def __init__(
        self,
        session: Any,  # onnxruntime has no types
        tokenizer: "Tokenizer",
        *,
        dimensions: int,
        max_tokens: int,
        workers: int | None = None,
    ) -> None:
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        self.dimensions = dimensions
        self._session = session
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._workers = workers or min(os.cpu_count() or 1, MOST_WORKERS)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a row, in the order of the texts."""
        if len(texts) == 1:  # a query: no pool, no copy
            return self._run(texts[0])
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)

        def fill(row: int) -> None:
            vectors[row] = self._run(texts[row])[0]

        # A pool per call costs 0.1 ms and leaves nothing to shut down; long texts first, so that the
        # last one running is a short one.
        longest_first = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        with ThreadPoolExecutor(max(1, min(self._workers, len(texts)))) as pool:
            for _ in pool.map(fill, longest_first):
                pass
        return vectors

    def _run(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(clip(text, self._max_tokens)).ids], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vectors: Vector = self._session.run(None, feeds)[0]
        return vectors


def clip(text: str, max_tokens: int) -> str:
    """Bound a text before it is tokenised, and make it valid Unicode: tokenizers refuse lone surrogates."""
    return text[: max_tokens * CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")


def load_bundled(spec: ModelSpec) -> OnnxModel:
    """Load a model that came with the package."""
    if not isinstance(spec.source, Bundled):
        raise EncoderFailed(f"{spec.name} does not come with the package")
    return load_folder(spec, find_folder(spec.source.folder))


def find_folder(name: str) -> Path:
    """Find a bundled model: inside the installed package, or in the checkout it is run from."""
    here = Path(__file__).resolve().parent
    homes = (here / "bundled" / name, here.parents[1] / "models" / name)
    for folder in homes:
        if (folder / "SHA256SUMS").is_file():
            return folder
    raise EncoderFailed(f"the bundled model {name} is missing; install memory-mcp again")


def load_folder(spec: ModelSpec, folder: Path) -> OnnxModel:
    """Check and open the files of one model folder."""
    sums = _read_sums(folder)
    weights = _read_checked(folder / "model.onnx", sums)
    vocabulary = _read_checked(folder / "tokenizer.json", sums)

    onnxruntime = onnx_runtime()
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only; its warnings are about hardware we do not use
    session = onnxruntime.InferenceSession(
        weights, options, providers=["CPUExecutionProvider"], disabled_optimizers=UNFUSED
    )
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    return OnnxModel(session, tokenizer, dimensions=spec.dimensions, max_tokens=spec.max_tokens)


def _read_sums(folder: Path) -> dict[str, str]:
    """Read a file of the form of ``sha256sum``: a digest, two spaces, a name."""
    try:
        lines = (folder / "SHA256SUMS").read_text("ascii").splitlines()
    except (OSError, ValueError) as error:
        raise EncoderFailed(
            f"cannot read {folder / 'SHA256SUMS'} ({error}); install memory-mcp again"
        ) from error
    pairs = (line.split(maxsplit=1) for line in lines if line.strip())
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def _read_checked(path: Path, sums: dict[str, str]) -> bytes:
    """Read a file whole (23 MB: 11 ms) and compare its digest (another 11 ms)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EncoderFailed(f"cannot read {path} ({error.strerror}); install memory-mcp again") from error
    if hashlib.sha256(data).hexdigest() != sums.get(path.name):
        raise EncoderFailed(f"{path} is damaged (wrong SHA-256); install memory-mcp again")
    return data
