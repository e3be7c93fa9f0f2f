"""What does a sentence-BERT compute, as an ONNX graph and, a second time, as plain numpy?

The graph is what ships (after quantisation); the numpy pass exists to prove it. The two are written
apart on purpose: the graph folds weights together and works on batches, the numpy pass follows the
checkpoint tensor by tensor for one text, so that one mistake does not hide in both.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["Shape", "build_graph", "numpy_forward", "read_safetensors"]

Weights = Mapping[str, NDArray[np.float32]]

OPSET = 17  # the first with LayerNormalization; every ONNX Runtime since 1.14 knows it
IR_VERSION = 9
LAYER_NORM_EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of one BERT. The defaults are those of all-MiniLM-L6-v2's config.json."""

    layers: int = 6
    hidden: int = 384
    heads: int = 12
    max_tokens: int = 256

    @property
    def head_width(self) -> int:
        return self.hidden // self.heads


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Read the float tensors of a safetensors file: a length, a JSON header, then raw bytes."""
    header_size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + header_size])
    body = memoryview(data)[8 + header_size :]
    tensors: dict[str, NDArray[np.float32]] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue  # position_ids is the only integer tensor, and it counts 0, 1, 2, …
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return tensors


class _Graph:
    """Collects nodes and constants; each call returns the name of what it computed."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, op: str, *inputs: str, name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"{name}/{op}", **attributes))
        return name

    def linear(self, x: str, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        product = self.add("MatMul", x, self.constant(f"{name}.weight", weight), name=f"{name}.product")
        return self.add("Add", product, self.constant(f"{name}.bias", bias), name=name)

    def layer_norm(self, x: str, name: str, weights: Weights, source: str) -> str:
        scale = self.constant(f"{name}.scale", weights[f"{source}.weight"])
        shift = self.constant(f"{name}.shift", weights[f"{source}.bias"])
        return self.add("LayerNormalization", x, scale, shift, name=name, axis=-1, epsilon=LAYER_NORM_EPSILON)


def build_graph(weights: Weights, shape: Shape) -> onnx.ModelProto:
    """(input_ids, attention_mask) → unit vectors: embeddings, layers, mean over the mask, L2 norm."""
    g = _Graph()
    zero, one = g.constant("zero", np.array([0])), g.constant("one", np.array([1]))
    hidden = _embeddings(g, weights, shape, zero, one)

    mask = g.add("Cast", "attention_mask", name="mask", to=TensorProto.FLOAT)
    spread = g.add("Unsqueeze", mask, g.constant("head_axes", np.array([1, 2])), name="mask.heads")
    absent = g.add("Sub", g.constant("one.float", np.array(1, np.float32)), spread, name="mask.absent")
    # -1e4 silences a padded position as well as -inf does, and a row of nothing but padding stays finite
    bias = g.add("Mul", absent, g.constant("silence", np.array(-1e4, np.float32)), name="mask.bias")

    g.constant("split_heads", np.array([0, 0, shape.heads, shape.head_width]))
    g.constant("join_heads", np.array([0, 0, shape.hidden]))
    for layer in range(shape.layers):
        hidden = _layer(g, weights, shape, layer, hidden, mask_bias=bias)

    column = g.add("Unsqueeze", mask, g.constant("last_axis", np.array([2])), name="mask.column")
    kept = g.add("Mul", hidden, column, name="pool.kept")
    # The mean's divisor is left out: it is a positive number per text, and the L2 norm removes it again.
    summed = g.add("ReduceSum", kept, one, name="pool.sum", keepdims=0)
    norm = g.add("ReduceL2", summed, name="pool.norm", axes=[1], keepdims=1)
    floor = g.add("Max", norm, g.constant("tiny", np.array(1e-12, np.float32)), name="pool.norm.floor")
    g.add("Div", summed, floor, name="embedding")

    tokens = ["batch", "tokens"]
    graph = helper.make_graph(
        g.nodes,
        "sentence-bert",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, tokens),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, tokens),
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", shape.hidden])],
        g.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def _embeddings(g: _Graph, weights: Weights, shape: Shape, zero: str, one: str) -> str:
    words = g.constant("words", weights["embeddings.word_embeddings.weight"])
    looked_up = g.add("Gather", words, "input_ids", name="words.looked_up", axis=0)
    # One text has one segment, so its segment vector is a constant and can live in the position table.
    table = weights["embeddings.position_embeddings.weight"][: shape.max_tokens]
    positions = g.constant("positions", table + weights["embeddings.token_type_embeddings.weight"][0])
    # Slice, not Range + Gather: the latter crashes ONNX Runtime 1.31.
    dims = g.add("Shape", "input_ids", name="dims")
    two = g.constant("two", np.array([2]))
    length = g.add("Slice", dims, one, two, zero, name="length")
    here = g.add("Slice", positions, zero, length, zero, name="positions.here")
    return g.layer_norm(
        g.add("Add", looked_up, here, name="embedded.raw"), "embedded", weights, "embeddings.LayerNorm"
    )


def _layer(g: _Graph, weights: Weights, shape: Shape, layer: int, x: str, *, mask_bias: str) -> str:
    source, at = f"encoder.layer.{layer}", f"layer{layer}"

    def dense(part: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return weights[f"{source}.{part}.weight"].T, weights[f"{source}.{part}.bias"]

    def heads(part: str, permutation: Sequence[int]) -> str:
        shaped = g.add("Reshape", f"{at}.{part}", "split_heads", name=f"{at}.{part}.shaped")
        return g.add("Transpose", shaped, name=f"{at}.{part}.heads", perm=list(permutation))

    # Query, key and value read the same input: one wide MatMul quantises it once instead of three times.
    # The query carries attention's 1/sqrt(width), which saves a pass over every attention matrix.
    scale = np.float32(1 / math.sqrt(shape.head_width))
    (wq, bq), (wk, bk), (wv, bv) = (dense(f"attention.self.{part}") for part in ("query", "key", "value"))
    together = g.linear(
        x, f"{at}.qkv", np.concatenate([wq * scale, wk, wv], axis=1), np.concatenate([bq * scale, bk, bv])
    )
    parts = [f"{at}.{part}" for part in ("query", "key", "value")]
    g.nodes.append(helper.make_node("Split", [together], parts, name=f"{at}.qkv/Split", axis=-1))
    scores = g.add(
        "MatMul", heads("query", (0, 2, 1, 3)), heads("key", (0, 2, 3, 1)), name=f"{at}.scores.raw"
    )
    scores = g.add("Add", scores, mask_bias, name=f"{at}.scores")
    attention = g.add("Softmax", scores, name=f"{at}.attention", axis=-1)
    mixed = g.add("MatMul", attention, heads("value", (0, 2, 1, 3)), name=f"{at}.mixed.heads")
    mixed = g.add("Transpose", mixed, name=f"{at}.mixed.rows", perm=[0, 2, 1, 3])
    mixed = g.add("Reshape", mixed, "join_heads", name=f"{at}.mixed")
    attended = g.linear(mixed, f"{at}.attended.dense", *dense("attention.output.dense"))
    attended = g.add("Add", attended, x, name=f"{at}.attended.sum")
    attended = g.layer_norm(attended, f"{at}.attended", weights, f"{source}.attention.output.LayerNorm")

    wide = _gelu(g, g.linear(attended, f"{at}.wide.dense", *dense("intermediate.dense")), f"{at}.wide")
    out = g.linear(wide, f"{at}.out.dense", *dense("output.dense"))
    out = g.add("Add", out, attended, name=f"{at}.out.sum")
    return g.layer_norm(out, at, weights, f"{source}.output.LayerNorm")


def _gelu(g: _Graph, x: str, name: str) -> str:
    """x · (1 + erf(x/√2)) / 2, in the five nodes that ONNX Runtime knows how to fuse into one."""
    root = g.constant(f"{name}.root2", np.array(math.sqrt(2), np.float32))
    unit = g.constant(f"{name}.unit", np.array(1, np.float32))
    half = g.constant(f"{name}.half", np.array(0.5, np.float32))
    error = g.add("Erf", g.add("Div", x, root, name=f"{name}.scaled"), name=f"{name}.erf")
    raised = g.add("Mul", x, g.add("Add", error, unit, name=f"{name}.erf1"), name=f"{name}.twice")
    return g.add("Mul", raised, half, name=name)


def numpy_forward(weights: Weights, shape: Shape, ids: Sequence[int]) -> NDArray[np.float64]:
    """Compute one text's vector from its token ids, in float64, straight from the checkpoint's tensors."""
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + LAYER_NORM_EPSILON)
        return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    x = weights["embeddings.word_embeddings.weight"][list(ids)].astype(np.float64)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(shape.layers):
        at = f"encoder.layer.{layer}"
        query, key, value = (linear(x, f"{at}.attention.self.{part}") for part in ("query", "key", "value"))
        mixed = np.empty_like(x)
        for head in range(shape.heads):
            columns = slice(head * shape.head_width, (head + 1) * shape.head_width)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(shape.head_width)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed[:, columns] = shares / shares.sum(axis=-1, keepdims=True) @ value[:, columns]
        x = norm(x + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        wide = linear(x, f"{at}.intermediate.dense")
        wide = wide * (1 + erf(wide / math.sqrt(2))) / 2
        x = norm(x + linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    mean = x.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))
