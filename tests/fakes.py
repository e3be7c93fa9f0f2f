"""What stands in for slow or large things in tests?"""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["HashModel"]

_WORD = re.compile(r"\w+")


class HashModel:
    """Embeds by hashing words, so that texts sharing words are near each other.

    The same text gives the same vector in every process (the builtin ``hash`` would not). Texts without words
    share one fixed vector. Sixteen signed places a word keep unrelated words nearly orthogonal.
    """

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                _add_word(vectors[row], word)
            length = float(np.linalg.norm(vectors[row]))
            if length == 0.0:  # two words may cancel each other out
                vectors[row, 0] = length = 1.0
            vectors[row] /= length
        return vectors


def _add_word(vector: NDArray[np.float32], word: str) -> None:
    digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
    for place in range(0, len(digest), 2):
        index = int.from_bytes(digest[place : place + 2], "little")
        vector[(index >> 1) % len(vector)] += 1.0 if index & 1 else -1.0
