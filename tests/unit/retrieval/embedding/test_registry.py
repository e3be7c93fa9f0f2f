"""Are the rows of the model registry right and usable?"""

import pytest
from fastembed import TextEmbedding

from retrieval.embedding.registry import DEFAULT_MODEL, MODELS, Bundled, Hub, ModelSpec, find_model
from retrieval.errors import SettingsError


def named(spec: ModelSpec) -> str:
    return spec.name


def test_names_are_unique() -> None:
    names = [spec.name for spec in MODELS]
    assert len(set(names)) == len(names)


def test_default_model_comes_with_the_package() -> None:
    spec = find_model(DEFAULT_MODEL)
    assert isinstance(spec.source, Bundled)
    assert spec.bundled
    assert (spec.dimensions, spec.max_tokens) == (384, 256)


def test_only_the_default_model_is_bundled() -> None:
    assert [spec.name for spec in MODELS if spec.bundled] == [DEFAULT_MODEL]


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [("e5_small", 384), ("e5_multi", 768), ("e5_large", 1024), ("bge_m3", 1024), ("nomic", 768)],
)
def test_dimensions(name: str, dimensions: int) -> None:
    assert find_model(name).dimensions == dimensions


@pytest.mark.parametrize("name", ["e5_small", "e5_multi", "e5_large"])
def test_e5_models_tell_queries_from_passages(name: str) -> None:
    spec = find_model(name)
    assert (spec.query_prefix, spec.passage_prefix, spec.pooling) == ("query: ", "passage: ", "mean")


def test_nomic_names_the_task() -> None:
    spec = find_model("nomic")
    assert (spec.query_prefix, spec.passage_prefix) == ("search_query: ", "search_document: ")


@pytest.mark.parametrize("name", ["bge_small", "bge_base"])
def test_bge_instructs_queries_only(name: str) -> None:
    spec = find_model(name)
    assert spec.query_prefix.startswith("Represent this sentence")
    assert (spec.passage_prefix, spec.pooling) == ("", "cls")


@pytest.mark.parametrize("name", ["minilm", "bge_m3", "jina_code"])
def test_models_trained_without_prefixes_get_none(name: str) -> None:
    spec = find_model(name)
    assert spec.query_prefix == spec.passage_prefix == ""


@pytest.mark.parametrize("spec", [spec for spec in MODELS if not spec.bundled], ids=named)
def test_rows_agree_with_fastembed_where_it_knows_the_model(spec: ModelSpec) -> None:
    listed = {row["model"]: row for row in TextEmbedding.list_supported_models()}
    if spec.title not in listed:
        assert spec.name in {"e5_small", "e5_multi", "bge_m3"}
        return
    row = listed[spec.title]
    assert isinstance(spec.source, Hub)
    assert spec.source.repo == row["sources"]["hf"]
    assert spec.source.file == row["model_file"]
    assert list(spec.source.extra_files) == row["additional_files"]
    assert (spec.dimensions, spec.licence.lower()) == (row["dim"], row["license"])


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'gpt'.*minilm.*e5_multi.*bge_m3"):
        find_model("gpt")
