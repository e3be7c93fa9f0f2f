"""Accounts and the money that moves between them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, wraps

from bank import Holder, Registered

MAX_RETRIES = 3
_DEFAULT_CURRENCY: str = "EUR"


def retry(times: int = MAX_RETRIES):
    """Try again when the bank is busy."""

    def decorate(call):
        @wraps(call)
        async def again(*args, **kwargs):
            for attempt in range(times):
                try:
                    return await call(*args, **kwargs)
                except ConnectionError:
                    await asyncio.sleep(attempt)
            raise RuntimeError("the bank did not answer")

        return again

    return decorate


# Money is counted in cents:
# floats lose some.
@dataclass(frozen=True)
class Amount:
    cents: int
    currency: str = _DEFAULT_CURRENCY

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.cents + other.cents, self.currency)


class Account(Holder, metaclass=Registered):
    """A place where money rests."""

    limit: int = 1000
    entries: list[Amount] = field(default_factory=list)

    class Closed(Exception):
        """Nothing moves any more."""

    def __init__(self, owner: str, *, opened: bool = True) -> None:
        self.owner = owner
        self.opened = opened
        self.entries = []

    @property
    def balance(self) -> int:
        """What is left, in cents."""
        return sum(entry.cents for entry in self.entries)

    @cached_property
    def label(self) -> str:
        return f"{self.owner} ({'open' if self.opened else 'closed'})"

    @retry(times=5)
    async def transfer(self, target: Account, amount: Amount) -> None:
        """Move money to another account.

        Both sides are written in one step, so that a crash in between cannot make money.
        """
        if not self.opened:
            raise Account.Closed(self.owner)
        if self.balance - amount.cents < -self.limit:
            raise ValueError(f"{self.owner} may not go below {self.limit} cents, and would with this one")
        async with self.lock, target.lock:
            self.entries.append(Amount(-amount.cents, amount.currency))
            target.entries.append(amount)

    @staticmethod
    def parse(line: str) -> Account:
        owner, _, state = line.partition(";")
        return Account(owner.strip(), opened=state.strip() == "open")

    def _audit(self) -> Iterator[str]:
        for position, entry in enumerate(self.entries):
            yield f"{position}: {entry.cents} {entry.currency}"


if __name__ == "__main__":
    account = Account.parse("Ada; open")
    account.label.strip()
