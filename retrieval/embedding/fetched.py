"""How does a model that did not come with the package get here, and run?

Files come from the Hugging Face hub, once, into a folder of ours; fastembed runs them. What is already
here is looked for first and loaded without touching the network. Without a network the answer is a reason
within seconds, where fastembed's own download sleeps 39 seconds between attempts. Nothing is
printed: stdout belongs to the protocol.
"""

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.onnx import clip
from retrieval.embedding.registry import DEFAULT_MODEL, Hub, ModelSpec
from retrieval.errors import EncoderFailed
from retrieval.runtime import onnx_runtime

if TYPE_CHECKING:
    from fastembed import TextEmbedding

__all__ = ["FetchedModel", "fetch", "load_fetched", "open_fetched"]

HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub's first answer: a firewall that swallows packets must not seem a download."""

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_OPTIONAL_FILES = ("config.json", "special_tokens_map.json")

logger = logging.getLogger(__name__)


class FetchedModel:
    """Embeds with fastembed. Safe to call from several threads, as the session and tokenizer below it are."""

    def __init__(self, engine: "TextEmbedding", *, dimensions: int, max_tokens: int, batch_size: int) -> None:
        # fastembed cuts where the model's own configuration says, which is 8,192 tokens for some
        cast("Any", engine.model).tokenizer.enable_truncation(max_tokens)
        self.dimensions = dimensions
        self._engine = engine
        self._max_tokens = max_tokens
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a row, in the order of the texts."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        # Texts of like length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        clipped = [clip(texts[row], self._max_tokens) for row in order]
        rows = np.stack(list(self._engine.embed(clipped, batch_size=self._batch_size))).astype(np.float32)
        vectors = np.empty_like(rows)
        vectors[order] = rows
        return vectors


def load_fetched(spec: ModelSpec, *, cache_dir: Path, batch_size: int) -> FetchedModel:
    """Find the model's files on this machine or fetch them, then open them."""
    if not isinstance(spec.source, Hub):
        raise EncoderFailed(f"{spec.name} is not a model of the hub")
    folder = fetch(spec, spec.source, cache_dir)
    return open_fetched(spec, spec.source, folder, batch_size=batch_size)


def fetch(spec: ModelSpec, source: Hub, cache_dir: Path) -> Path:
    """Return the folder with the model's files, downloading what is missing."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    needed = (source.file, *source.extra_files, *_TOKENIZER_FILES)
    patterns = [*needed, *_OPTIONAL_FILES]
    with contextlib.suppress(LocalEntryNotFoundError):
        here = Path(
            snapshot_download(
                source.repo, allow_patterns=patterns, cache_dir=cache_dir, local_files_only=True
            )
        )
        if all((here / name).is_file() for name in needed):  # an interrupted download leaves a part
            return here

    logger.info("Fetching %s (about %d MB) into %s", spec.title, spec.size_mb, cache_dir)
    disable_progress_bars()
    try:
        HfApi().model_info(source.repo, timeout=HUB_TIMEOUT)  # the one request that takes a timeout
        return Path(
            snapshot_download(
                source.repo, allow_patterns=patterns, cache_dir=cache_dir, etag_timeout=HUB_TIMEOUT
            )
        )
    except Exception as error:  # the hub client's errors have no common root, and differ by version
        raise EncoderFailed(
            f"{spec.title} is not in {cache_dir} and could not be fetched from the Hugging Face hub "
            f"({_first_line(error)}); connect once, or use --model {DEFAULT_MODEL}, which needs no network"
        ) from error


def open_fetched(spec: ModelSpec, source: Hub, folder: Path, *, batch_size: int) -> FetchedModel:
    """Open a folder of model files with fastembed, with the pooling of our row.

    Also models that fastembed lists itself are registered under a name of ours: its rows change
    between releases (pooling did), and vectors in a database must keep their meaning.
    """
    onnx_runtime()  # before fastembed imports it by itself
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"memory-mcp/{spec.name}"
    with contextlib.suppress(ValueError):  # registered already, by an earlier encoder of this process
        TextEmbedding.add_custom_model(
            model=name,
            pooling={"mean": PoolingType.MEAN, "cls": PoolingType.CLS}[spec.pooling],
            normalization=True,
            sources=ModelSource(hf=source.repo),
            dim=spec.dimensions,
            model_file=source.file,
            additional_files=list(source.extra_files),
        )
    try:
        engine = TextEmbedding(
            name, cache_dir=str(folder.parent), specific_model_path=str(folder), local_files_only=True
        )
    except Exception as error:  # onnxruntime, tokenizers and JSON each raise their own
        raise EncoderFailed(
            f"the files of {spec.title} in {folder} cannot be opened ({_first_line(error)}); "
            "delete that folder to fetch them again"
        ) from error
    return FetchedModel(engine, dimensions=spec.dimensions, max_tokens=spec.max_tokens, batch_size=batch_size)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
