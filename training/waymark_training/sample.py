"""The random sample of questions that waymark eval takes, so that both measure the same ones."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

_WORD = 2**64


class PCG:
    """PCG-DXSM as in Go's math/rand/v2."""

    def __init__(self, high: int, low: int) -> None:
        self._state = high * _WORD + low

    def uint64(self) -> int:
        self._state = (self._state * (2549297995355413924 * _WORD + 4865540595714422341)) % _WORD**2
        self._state = (self._state + 6364136223846793005 * _WORD + 1442695040888963407) % _WORD**2
        high, low = divmod(self._state, _WORD)
        high ^= high >> 32
        high = high * 0xDA942042E4DD58B5 % _WORD
        high ^= high >> 48
        return high * (low | 1) % _WORD

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, for n below 2**32."""
        if n & (n - 1) == 0:
            return self.uint64() % 2**32 & (n - 1)
        product = (self.uint64() >> 32) * n
        while product % 2**32 < 2**32 % n:
            product = (self.uint64() >> 32) * n
        return product >> 32


def sample(values: list[T], count: int) -> list[T]:
    """The first so many of the values as Go shuffles them from seed (0, 0); 0 takes all as they stand."""
    if not count:
        return list(values)
    out, random = list(values), PCG(0, 0)
    for i in range(len(out) - 1, 0, -1):
        j = random.below(i + 1)
        out[i], out[j] = out[j], out[i]
    return out[:count]
