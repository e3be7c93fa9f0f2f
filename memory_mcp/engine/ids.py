"""What is a new record called, and has this call been made before?

An id is random, unless its call came with a key: then it follows from the key. A relay that does not know
whether its call was carried out before the owner died makes it again with the same key, and finds the record
of the first time instead of making a second one.
"""

import hashlib
import secrets
import string
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["is_retry", "keyed", "new_id"]

_ALPHABET = string.ascii_lowercase + string.digits
_LENGTH = 20


@dataclass(slots=True)
class _Keyed:
    key: str
    is_retry: bool
    given: int = 0


_call: ContextVar[_Keyed | None] = ContextVar("call", default=None)


@contextmanager
def keyed(key: str, *, is_retry: bool) -> Iterator[None]:
    """Everything made inside is made by the call with this key."""
    token = _call.set(_Keyed(key, is_retry))
    try:
        yield
    finally:
        _call.reset(token)


def is_retry() -> bool:
    """Whether the call may have been carried out before."""
    call = _call.get()
    return call is not None and call.is_retry


def new_id() -> str:
    """Twenty letters and digits: from the system's randomness, or the next one of a call's key."""
    call = _call.get()
    if call is None:
        return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    call.given += 1
    digest = hashlib.blake2b(f"{call.key}\0{call.given}".encode("utf-8", "surrogatepass")).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:_LENGTH])
