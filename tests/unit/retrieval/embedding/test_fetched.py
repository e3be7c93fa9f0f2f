"""Does a fetched model run from local files, and fail soon and clearly without a network?"""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding.encoder import Failed, Ready, open_encoder
from retrieval.embedding.fetched import FetchedModel, load_fetched, open_fetched
from retrieval.embedding.onnx import OnnxModel, find_folder
from retrieval.embedding.registry import Hub, ModelSpec, find_model
from retrieval.errors import EncoderFailed

SOURCE = Hub("nobody/pooled", "pooled.onnx")
SPEC = replace(find_model("minilm"), name="test_pooled", source=SOURCE)


def pooled_copy(folder: Path) -> Path:
    """Our own model, laid out as fastembed expects one, ending before the pooling."""
    import onnx

    folder.mkdir(parents=True)
    bundled = find_folder("all-minilm-l6-v2")
    model = onnx.load(str(bundled / "model.onnx"))
    del model.graph.output[:]
    model.graph.output.append(
        onnx.helper.make_tensor_value_info("layer5", onnx.TensorProto.FLOAT, ["batch", "tokens", 384])
    )
    onnx.save(model, str(folder / SOURCE.file))
    shutil.copy(bundled / "tokenizer.json", folder)
    settings = {"model_max_length": 512, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    return folder


def in_hub_cache(cache_dir: Path) -> Path:
    """The place where the hub client keeps the files of a repository's main branch."""
    repo = cache_dir / "models--nobody--pooled"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("0" * 40)
    return repo / "snapshots" / ("0" * 40)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> FetchedModel:
    folder = pooled_copy(tmp_path_factory.mktemp("fetched") / "model")
    return open_fetched(SPEC, SOURCE, folder, batch_size=2)


def test_pooled_by_fastembed_it_agrees_with_our_own_pooling(local: FetchedModel, minilm: OnnxModel) -> None:
    texts = ["We keep sessions in PostgreSQL.", "a", "def add(left, right): return left + right"]
    one_by_one = np.vstack([local.embed([text]) for text in texts])
    # not equal: another graph optimiser rounds differently, and int8 lets one flipped bit grow to .005
    assert (one_by_one * minilm.embed(texts)).sum(axis=1).min() > 0.98


def test_order_is_kept_across_batches_of_like_length(local: FetchedModel, minilm: OnnxModel) -> None:
    texts = ["a much longer sentence about the weather in the north", "cat", "dogs bark", "", "a red car"]
    vectors = local.embed(texts)
    assert vectors.shape == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert (vectors @ minilm.embed(texts).T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_nothing_gives_no_rows(local: FetchedModel) -> None:
    assert local.embed([]).shape == (0, 384)


def test_the_rows_limit_cuts_not_the_folders(local: FetchedModel) -> None:
    long = "the billing migration took eleven minutes on a copy of production " * 40
    first, second = local.embed([long + "kittens"]), local.embed([long + "database"])
    np.testing.assert_array_equal(first, second)


def test_lone_surrogates_do_not_crash(local: FetchedModel) -> None:
    assert np.isfinite(local.embed(["a\ud800b"])).all()


def test_files_in_the_cache_need_no_network(tmp_path: Path) -> None:
    pooled_copy(in_hub_cache(tmp_path))
    encoder = open_encoder(SPEC, cache_dir=tmp_path, wait_seconds=30)
    assert isinstance(encoder.wait(30), Ready)
    assert encoder.embed_query("hello").shape == (384,)


def test_without_network_it_fails_soon_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_network(monkeypatch)
    begin = time.monotonic()
    state = open_encoder(find_model("bge_small"), cache_dir=tmp_path).wait(30)
    assert isinstance(state, Failed)
    assert "BAAI/bge-small-en-v1.5 is not in" in state.reason
    assert "--model minilm" in state.reason
    assert time.monotonic() - begin < 8


def test_half_a_download_is_not_taken_for_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_network(monkeypatch)
    (pooled_copy(in_hub_cache(tmp_path)) / SOURCE.file).unlink()
    with pytest.raises(EncoderFailed, match="could not be fetched"):
        load_fetched(SPEC, cache_dir=tmp_path, batch_size=2)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    folder = pooled_copy(tmp_path / "model")
    (folder / SOURCE.file).write_bytes(b"not a graph")
    with pytest.raises(EncoderFailed, match=r"cannot be opened .*delete that folder"):
        open_fetched(SPEC, SOURCE, folder, batch_size=2)


def test_wrong_width_is_a_failed_state(tmp_path: Path) -> None:
    pooled_copy(in_hub_cache(tmp_path))
    spec: ModelSpec = replace(SPEC, name="test_wide", dimensions=768)
    assert open_encoder(spec, cache_dir=tmp_path).wait(30) == Failed(
        "test_wide should give 768 dimensions and gives 384"
    )


def test_a_bundled_model_is_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(EncoderFailed, match="minilm is not a model of the hub"):
        load_fetched(find_model("minilm"), cache_dir=tmp_path, batch_size=2)


def test_nothing_is_printed_to_stdout(tmp_path: Path) -> None:
    pooled_copy(in_hub_cache(tmp_path))
    script = f"""
from dataclasses import replace
from pathlib import Path
from retrieval.embedding.encoder import open_encoder
from retrieval.embedding.registry import Hub, find_model
import sys
loud = [name for name in ("onnxruntime", "tokenizers", "fastembed", "huggingface_hub") if name in sys.modules]
assert not loud, loud
there = replace(find_model("minilm"), name="there", source=Hub("nobody/pooled", "pooled.onnx"))
gone = replace(there, name="gone", source=Hub("nobody/gone", "pooled.onnx"))
for spec in (there, gone):
    print(open_encoder(spec, cache_dir=Path({str(tmp_path)!r})).wait(60), file=sys.stderr)
"""
    environment = {"PYTHONPATH": str(Path.cwd()), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=environment,
    )
    assert done.stdout == ""
    assert "Ready(" in done.stderr
    assert "Failed(" in done.stderr


def refuse_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this test mean the same on a machine that has a network."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("network is off in tests")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
