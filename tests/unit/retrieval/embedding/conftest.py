import pytest

from retrieval.embedding.onnx import OnnxModel, load_bundled
from retrieval.embedding.registry import find_model


@pytest.fixture(scope="session")
def minilm() -> OnnxModel:
    return load_bundled(find_model("minilm"))
