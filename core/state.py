"""State: every vehicle's latest row, with what Core knows beside it. One array entry per vehicle, no loop over them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wire.messages import Introduction
from wire.rows import STATE, TROUBLES, Rows, empty_rows, trouble
from wire.words import VID_MAX, Condition

_NOBODY: Final = -1


class State:
    def __init__(self) -> None:
        self.count = 0
        self.roster: list[Introduction] = []
        self._place = np.full(256, _NOBODY, dtype=np.int32)  # vid -> index
        self._rows = empty_rows(64, STATE)
        self._length_m = np.zeros(64)
        self._owner = np.full(64, _NOBODY, dtype=np.int32)  # index of the process that reports it
        self._seen_s = np.full(64, -np.inf)
        self._number = np.zeros(64, dtype=np.int64)  # order that the row echoes
        self._condition = np.full(64, Condition.LOST, dtype=np.uint8)
        self._reported = np.zeros(64, dtype=bool)

    # Views of the part in use.
    @property
    def rows(self) -> Rows:
        return self._rows[: self.count]

    @property
    def length_m(self) -> NDArray[np.float64]:
        return self._length_m[: self.count]

    @property
    def owner(self) -> NDArray[np.int32]:
        return self._owner[: self.count]

    @property
    def condition(self) -> NDArray[np.uint8]:
        return self._condition[: self.count]

    @property
    def reported(self) -> NDArray[np.bool_]:
        """Who has sent a row since it was introduced."""
        return self._reported[: self.count]

    @property
    def seen_s(self) -> NDArray[np.float64]:
        return self._seen_s[: self.count]

    def introduce(self, vehicle: Introduction, owner: int) -> bool:
        """Give a vehicle to a process. False when it belongs to another that still reports it."""
        i = self.index_of(vehicle.vid)
        if i == _NOBODY:
            i = self._add(vehicle)
        elif self._owner[i] != owner and self._condition[i] < Condition.STALE:
            return False
        if self._owner[i] != owner:
            self._number[i] = 0
            self._rows[i]["t_s"] = 0.0
        self._owner[i] = owner
        self._length_m[i] = vehicle.length_m
        self.roster[i] = vehicle
        return True

    def index_of(self, vid: int) -> int:
        return int(self._place[vid]) if vid < len(self._place) else _NOBODY

    def indices_of(self, vids: NDArray[np.uint32]) -> NDArray[np.int32]:
        inside = vids < len(self._place)
        found = np.full(len(vids), _NOBODY, dtype=np.int32)
        found[inside] = self._place[vids[inside]]
        return found

    def judge(self, rows: Rows, owners: NDArray[np.int32], reach_m: float) -> tuple[NDArray[np.int32], dict[str, int]]:
        """For each row its place in State, or -1 where it is refused; and how many were refused for what."""
        bad = trouble(rows, reach_m)
        place = self.indices_of(rows["vid"])
        place[bad > 0] = _NOBODY
        stranger = (bad == 0) & (place == _NOBODY)
        known = place != _NOBODY
        foreign = known.copy()
        foreign[known] = self._owner[place[known]] != owners[known]
        place[foreign] = _NOBODY
        refused = {word: int(np.count_nonzero(bad == code)) for code, word in enumerate(TROUBLES) if code}
        refused["not introduced"] = int(np.count_nonzero(stranger))
        refused["vid of another sender"] = int(np.count_nonzero(foreign))
        return place, {word: count for word, count in refused.items() if count}

    def update(self, rows: Rows, place: NDArray[np.int32], numbers: NDArray[np.int64], now_s: float) -> NDArray[np.bool_]:
        """Take over the accepted rows that are news. True where a row came after a newer one of the same vehicle."""
        late = numbers < self._number[place]
        late |= (numbers == self._number[place]) & (rows["t_s"] < self._rows["t_s"][place])
        fresh = ~late
        place, rows, numbers = place[fresh], rows[fresh], numbers[fresh]
        if len(place) > 1 and np.bincount(place).max() > 1:  # a vehicle twice in one drain: the newest row wins
            order = np.lexsort((rows["t_s"], numbers))
            place, rows, numbers = place[order], rows[order], numbers[order]
        self._rows[place] = rows
        self._number[place] = numbers
        self._seen_s[place] = now_s
        self._reported[place] = True
        return late

    def grade(self, now_s: float, limits_s: tuple[float, float, float]) -> NDArray[np.uint8]:
        """Set everybody's condition by the age of the last row; what it was before."""
        before = self.condition.copy()
        age_s = now_s - self.seen_s
        self._condition[: self.count] = np.searchsorted(np.array(limits_s), age_s, side="left")
        return before

    def listing(self, lost: list[int]) -> list[dict[str, Any]]:
        """Everybody who was introduced, for people; `lost` has the datagrams lost of each process."""
        return [
            {
                "vid": vehicle.vid,
                "name": vehicle.name,
                "kind": vehicle.kind.name.lower(),
                "length_m": vehicle.length_m,
                "live": vehicle.live,
                "behaviours": list(vehicle.behaviours),
                "lost": lost[owner],
            }
            for vehicle, owner in zip(self.roster, self.owner.tolist(), strict=True)
        ]

    def _add(self, vehicle: Introduction) -> int:
        i = self.count
        if i == len(self._rows):
            self._grow()
        if vehicle.vid >= len(self._place):
            wider = np.full(min(VID_MAX + 1, max(2 * len(self._place), vehicle.vid + 1)), _NOBODY, dtype=np.int32)
            wider[: len(self._place)] = self._place
            self._place = wider
        self._place[vehicle.vid] = i
        self._rows[i]["vid"] = vehicle.vid
        self.roster.append(vehicle)
        self.count += 1
        return i

    def _grow(self) -> None:
        for name in ("_rows", "_length_m", "_owner", "_seen_s", "_number", "_condition", "_reported"):
            old = getattr(self, name)
            wider = np.zeros(2 * len(old), dtype=old.dtype)
            wider[: len(old)] = old
            setattr(self, name, wider)
        half = len(self._rows) // 2
        self._owner[half:] = _NOBODY
        self._seen_s[half:] = -np.inf
        self._condition[half:] = Condition.LOST
