"""The processes that talk to Core: where they are, what they have heard, what of theirs was lost."""

from collections.abc import Hashable
from typing import Final

SEQ_RESET: Final = 1000  # a jump back by more than this is no late datagram
STRANGERS_MOST: Final = 4096  # processes that Core keeps track of


class Peer:
    """One process, known by the sender number it drew at its start."""

    def __init__(self, index: int, sender: int, address: Hashable) -> None:
        self.index = index
        self.sender = sender
        self.address = address
        self.heard_s = 0.0
        self.told_s = -1e9  # when it last got a word from Core
        self.echo = -1  # newest order number that it has echoed
        self.seq = -1
        self.received = 0
        self.lost = 0
        self.advised = False  # it holds advisories
        self.stopped = False

    def count(self, seq: int) -> int:
        """Note the sequence number of a datagram; how many are newly known to be missing (negative: one turned up)."""
        self.received += 1
        gap = 0
        if self.seq >= 0:
            gap = seq - self.seq - 1
            if gap < 0:
                gap = -1 if gap > -SEQ_RESET and self.lost > 0 else 0
            elif gap > 1_000_000:
                gap = 0
        self.seq = max(self.seq, seq)
        self.lost += gap
        return gap


class Peers:
    def __init__(self) -> None:
        self.all: list[Peer] = []
        self._by_sender: dict[int, Peer] = {}

    def find(self, sender: int) -> Peer | None:
        return self._by_sender.get(sender)

    def welcome(self, sender: int, address: Hashable) -> Peer | None:
        """The process of that number, new or not. None when there are too many to be real."""
        peer = self._by_sender.get(sender)
        if peer is None:
            if len(self.all) >= STRANGERS_MOST:
                return None
            peer = Peer(len(self.all), sender, address)
            self.all.append(peer)
            self._by_sender[sender] = peer
        peer.address = address
        return peer
