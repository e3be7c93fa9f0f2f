"""Which code searches take part, and how does a command line name them?"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from benchmarks.code_bm25 import over_chunks, over_windows
from benchmarks.code_engine import ours
from benchmarks.code_semble import Semble
from benchmarks.code_systems import System

__all__ = ["add_arguments", "opened"]

_PLAIN = {"bm25-windows": over_windows, "bm25-chunks": over_chunks}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose."""
    known = [*ours(ablation=True), *_PLAIN, "semble"]
    parser.add_argument("--systems", nargs="+", choices=known, help="default: all that can be run")
    parser.add_argument("--ablation", action="store_true", help="our own also with each part left out")
    parser.add_argument("--semble", type=Path, metavar="PYTHON", help="of an environment with semble")
    parser.add_argument(
        "--semble-model", type=Path, metavar="DIR", help="a static model's folder, for semble"
    )


@contextmanager
def opened(args: argparse.Namespace) -> Iterator[list[System]]:
    """The systems, ready to index; closed afterwards."""
    names = _names(args)
    with ExitStack() as stack:
        systems: list[System] = []
        makers: dict[str, Callable[[], System]] = {**ours(ablation=True), **_PLAIN}
        makers["semble"] = lambda: Semble(args.semble, args.semble_model)
        for name in names:
            system: System = makers[name]()
            systems.append(stack.enter_context(closing(system)))
        yield systems


def _names(args: argparse.Namespace) -> list[str]:
    if (args.semble is None) != (args.semble_model is None):
        raise SystemExit("--semble PYTHON and --semble-model DIR go together")
    names = args.systems or [
        *ours(ablation=args.ablation),
        *_PLAIN,
        *(["semble"] if args.semble else []),
    ]
    if "semble" in names and args.semble is None:
        raise SystemExit("semble needs --semble PYTHON and --semble-model DIR")
    return list(names)
