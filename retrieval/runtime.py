"""How is the model runtime loaded, so that it keeps to itself?"""

import os
from typing import Any

__all__ = ["onnx_runtime"]


def onnx_runtime() -> Any:
    """onnxruntime, without its reports.

    From its import on, version 1.31 would tell Microsoft of its use and keep a device id in ``~/.cache``; its
    own ``disable_telemetry_events`` comes too late for that.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # type: ignore[import-untyped]

    return onnxruntime
