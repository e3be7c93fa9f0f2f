"""Does the bundled model compute what the original computes, and refuse damaged files?"""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding.onnx import (
    CHARACTERS_PER_TOKEN,
    OnnxModel,
    clip,
    find_folder,
    load_bundled,
    load_folder,
)
from retrieval.embedding.registry import find_model
from retrieval.errors import EncoderFailed

SPEC = find_model("minilm")
WORDS = "the billing migration took eleven minutes on a copy of production "


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(find_folder("all-minilm-l6-v2"), tmp_path / "model"))


def test_quantised_vectors_are_close_to_the_canonical_ones(minilm: OnnxModel) -> None:
    rows = json.loads((find_folder("all-minilm-l6-v2") / "canonical.json").read_text("utf-8"))
    expected = np.array([row["vector"] for row in rows])
    cosines = (minilm.embed([row["text"] for row in rows]) * expected).sum(axis=1)
    assert len(rows) >= 16
    assert cosines.min() >= 0.98
    assert cosines.mean() >= 0.99


def test_related_texts_are_nearer_than_unrelated_ones(minilm: OnnxModel) -> None:
    query, near, far = minilm.embed(
        ["How do I undo a commit?", "git revert takes back a change", "Bake the bread for forty minutes"]
    )
    assert query @ near > query @ far + 0.2


def test_rows_have_unit_length_and_the_right_shape(minilm: OnnxModel) -> None:
    vectors = minilm.embed(["", " ", "one", WORDS * 100])
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_nothing_gives_no_rows(minilm: OnnxModel) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_a_vector_depends_on_its_text_alone(minilm: OnnxModel) -> None:
    texts = ["short", WORDS, WORDS * 20, "def f(): pass"]
    together = minilm.embed(texts)
    for row, text in enumerate(texts):
        np.testing.assert_array_equal(together[row], minilm.embed([text])[0])


def test_what_follows_the_token_limit_does_not_count(minilm: OnnxModel) -> None:
    long = WORDS * 40  # 480 tokens
    first, second = minilm.embed([long + "kittens", long + "database"])
    np.testing.assert_array_equal(first, second)


def test_text_is_cut_before_it_is_tokenised() -> None:
    assert len(clip("x y" * 1_000_000, 256)) == 256 * CHARACTERS_PER_TOKEN


def test_a_megabyte_is_as_good_as_its_beginning(minilm: OnnxModel) -> None:
    whole, beginning = minilm.embed([WORDS * 16_000, WORDS * 40])
    np.testing.assert_array_equal(whole, beginning)


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "\udfff", "�", "😀" * 3000])
def test_odd_characters_do_not_crash(minilm: OnnxModel, text: str) -> None:
    assert np.isfinite(minilm.embed([text])).all()


def test_threads_share_a_model(minilm: OnnxModel) -> None:
    texts = [f"note {number} about topic {number % 7}" for number in range(24)]
    expected = minilm.embed(texts)
    with ThreadPoolExecutor(6) as pool:
        found = np.vstack(list(pool.map(lambda text: minilm.embed([text]), texts)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_file_is_refused(copy: Path, name: str) -> None:
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(EncoderFailed, match=rf"{name} is damaged"):
        load_folder(SPEC, copy)


@pytest.mark.parametrize("name", ["model.onnx", "SHA256SUMS"])
def test_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(EncoderFailed, match=rf"cannot read .*{name}"):
        load_folder(SPEC, copy)


def test_file_without_a_checksum_is_refused(copy: Path) -> None:
    (copy / "SHA256SUMS").write_text("")
    with pytest.raises(EncoderFailed, match="damaged"):
        load_folder(SPEC, copy)


def test_missing_folder_is_named() -> None:
    with pytest.raises(EncoderFailed, match="no-such-model is missing"):
        find_folder("no-such-model")


def test_a_hub_model_is_not_a_bundled_one() -> None:
    with pytest.raises(EncoderFailed, match="e5_multi does not come with the package"):
        load_bundled(find_model("e5_multi"))


def test_notice_and_licence_lie_beside_the_weights() -> None:
    folder = find_folder("all-minilm-l6-v2")
    assert "Apache-2.0" in (folder / "NOTICE").read_text("utf-8")
    assert "Apache License" in (folder / "LICENSE-APACHE").read_text("utf-8")
