"""Vehicle-to-vehicle messages: who hears what, and when. Range, loss and delay are the scenario's."""

from typing import NamedTuple

import numpy as np

from core.advise import Snapshot
from core.settings import RadioSettings
from core.state import State
from wire.chance import uniform
from wire.words import EVERYONE


class Post(NamedTuple):
    """A message on its way to one receiver."""

    due_s: float
    to_vid: int
    from_vid: int
    t_s: float
    text: str


class Radio:
    def __init__(self, settings: RadioSettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed
        self._waiting: list[Post] = []
        self._spoken: dict[int, int] = {}  # messages so far, per sender

    def reset(self) -> None:
        self._waiting.clear()
        self._spoken.clear()

    def say(self, from_vid: int, to_vid: int, t_s: float, text: str, state: State, now: Snapshot) -> tuple[int, int]:
        """Send it off. How many will hear it, and how many were in range but lost it."""
        place = state.index_of(from_vid)
        here = np.flatnonzero(now.place == place)
        if not len(here):
            return 0, 0
        away = now.position_m - now.position_m[here[0]]
        near = (away * away).sum(axis=1) <= self._settings.range_m**2
        vids = state.rows["vid"][now.place[near]].tolist()
        number = self._spoken[from_vid] = self._spoken.get(from_vid, 0) + 1
        heard = lost = 0
        for vid in sorted(vids):
            if vid == from_vid or to_vid not in (EVERYONE, vid):
                continue
            if uniform(self._seed, vid, 1000 + number, from_vid) < self._settings.loss:
                lost += 1
                continue
            heard += 1
            self._waiting.append(Post(t_s + self._settings.delay_s, vid, from_vid, t_s, text))
        return heard, lost

    def due(self, t_s: float) -> list[Post]:
        """The messages that arrive by now, in a fixed order."""
        arrived = sorted(post for post in self._waiting if post.due_s <= t_s + 1e-9)
        self._waiting = [post for post in self._waiting if post.due_s > t_s + 1e-9]
        return arrived
