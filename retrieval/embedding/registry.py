"""Which embedding models are known by name, and what does each one need to be used correctly?

A model is a row. The prefixes, the pooling and the token limit are part of the model as much as its
weights: the wrong prefix costs more than the next larger model gains. Nothing here loads anything.
"""

from dataclasses import dataclass
from typing import Literal

from retrieval.errors import SettingsError

__all__ = ["DEFAULT_MODEL", "MODELS", "Bundled", "Hub", "ModelSpec", "Pooling", "find_model"]

Pooling = Literal["mean", "cls"]

DEFAULT_MODEL = "minilm"

FETCHED_MAX_TOKENS = 512
"""Tokens read by fetched models, also by those trained on 8,192: attention over 8,192 tokens takes
3 GB for a single text, and what we embed (memories, chunks of code) is shorter than 512."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """The model's files came with this package, in a folder of this name."""

    folder: str


@dataclass(frozen=True, slots=True)
class Hub:
    """The model's files come from the Hugging Face hub the first time somebody asks for it."""

    repo: str
    file: str = "onnx/model.onnx"
    extra_files: tuple[str, ...] = ()  # weights that ONNX keeps outside the graph when they exceed 2 GB


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model: what it is, where it comes from and how text has to be put to it."""

    name: str
    title: str
    dimensions: int
    size_mb: int
    licence: str
    source: Bundled | Hub
    description: str
    pooling: Pooling = "mean"
    max_tokens: int = FETCHED_MAX_TOKENS
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def bundled(self) -> bool:
        return isinstance(self.source, Bundled)


_BGE_QUERY = "Represent this sentence for searching relevant passages: "

MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name=DEFAULT_MODEL,
        title="sentence-transformers/all-MiniLM-L6-v2",
        dimensions=384,
        size_mb=23,
        licence="Apache-2.0",
        source=Bundled("all-minilm-l6-v2"),
        description="English, int8; comes with the package and needs no network.",
        max_tokens=256,
    ),
    ModelSpec(
        name="minilm_multi",
        title="sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        dimensions=384,
        size_mb=220,
        licence="Apache-2.0",
        source=Hub("Qdrant/paraphrase-multilingual-MiniLM-L12-v2-onnx-Q", "model_optimized.onnx"),
        description="50 languages, the smallest of the multilingual ones; reads 128 tokens.",
        max_tokens=128,
    ),
    ModelSpec(
        name="e5_small",
        title="intfloat/multilingual-e5-small",
        dimensions=384,
        size_mb=470,
        licence="MIT",
        source=Hub("intfloat/multilingual-e5-small"),
        description="100 languages at the width of the default model.",
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
    ModelSpec(
        name="e5_multi",
        title="intfloat/multilingual-e5-base",
        dimensions=768,
        size_mb=1110,
        licence="MIT",
        source=Hub("intfloat/multilingual-e5-base"),
        description="100 languages, middle size.",
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
    ModelSpec(
        name="e5_large",
        title="intfloat/multilingual-e5-large",
        dimensions=1024,
        size_mb=2240,
        licence="MIT",
        source=Hub("Qdrant/multilingual-e5-large-onnx", "model.onnx", ("model.onnx_data",)),
        description="100 languages, large and slow on a CPU.",
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
    ModelSpec(
        name="bge_small",
        title="BAAI/bge-small-en-v1.5",
        dimensions=384,
        size_mb=67,
        licence="MIT",
        source=Hub("Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx"),
        description="English, small, trained for search.",
        pooling="cls",
        query_prefix=_BGE_QUERY,
    ),
    ModelSpec(
        name="bge_base",
        title="BAAI/bge-base-en-v1.5",
        dimensions=768,
        size_mb=210,
        licence="MIT",
        source=Hub("Qdrant/bge-base-en-v1.5-onnx-Q", "model_optimized.onnx"),
        description="English, middle size.",
        pooling="cls",
        query_prefix=_BGE_QUERY,
    ),
    ModelSpec(
        name="bge_m3",
        title="BAAI/bge-m3",
        dimensions=1024,
        size_mb=2270,
        licence="MIT",
        source=Hub("BAAI/bge-m3", "onnx/model.onnx", ("onnx/model.onnx_data", "onnx/Constant_7_attr__value")),
        description="100 languages, large; only its dense vectors are used. Wants no prefixes.",
        pooling="cls",
    ),
    ModelSpec(
        name="nomic",
        title="nomic-ai/nomic-embed-text-v1.5",
        dimensions=768,
        size_mb=520,
        licence="Apache-2.0",
        source=Hub("nomic-ai/nomic-embed-text-v1.5"),
        description="English, trained for search.",
        query_prefix="search_query: ",
        passage_prefix="search_document: ",
    ),
    ModelSpec(
        name="jina_code",
        title="jinaai/jina-embeddings-v2-base-code",
        dimensions=768,
        size_mb=640,
        licence="Apache-2.0",
        source=Hub("jinaai/jina-embeddings-v2-base-code"),
        description="English and 30 programming languages.",
    ),
    ModelSpec(
        name="arctic_xs",
        title="snowflake/snowflake-arctic-embed-xs",
        dimensions=384,
        size_mb=90,
        licence="Apache-2.0",
        source=Hub("Snowflake/snowflake-arctic-embed-xs"),
        description="English, 22 million parameters like the default, trained for search.",
        pooling="cls",
        query_prefix=_BGE_QUERY,
    ),
    ModelSpec(
        name="mxbai_large",
        title="mixedbread-ai/mxbai-embed-large-v1",
        dimensions=1024,
        size_mb=640,
        licence="Apache-2.0",
        source=Hub("mixedbread-ai/mxbai-embed-large-v1"),
        description="English, large.",
        pooling="cls",
        query_prefix=_BGE_QUERY,
    ),
)


def find_model(name: str) -> ModelSpec:
    """Look a model up by its short name, or say which names there are."""
    for spec in MODELS:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in MODELS)
    raise SettingsError(f"Unknown embedding model {name!r}. Choose one of: {known}.")
