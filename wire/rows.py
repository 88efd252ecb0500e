"""Packed rows: the fixed little-endian layouts of states and advisories.

`docs/wire.md` shows every byte. A row is read and written as it lies, so that Core decodes everything it drained with
one `numpy.frombuffer` and a microcontroller can fill it from a C struct. A changed layout gets a new version.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from wire.errors import CodecError
from wire.words import VID_MAX, RunState

ROWS_VERSION: Final = 1

Rows = NDArray[np.void]

STATE: Final = np.dtype(
    [
        ("vid", "<u4"),
        ("run_state", "u1"),
        ("behaviour", "u1"),  # the one in charge, 0 for none
        ("flags", "u1"),  # LIVE, DETECTS
        ("margin_pct", "u1"),  # soft-real-time margin, 255 where no clock runs
        ("t_s", "<f8"),  # simulation time, 0 at GO
        ("x_m", "<f8"),  # east of the scenario origin, on the UTM grid
        ("y_m", "<f8"),  # north
        ("z_m", "<f8"),  # up
        ("lat_deg", "<f8"),
        ("lon_deg", "<f8"),
        ("yaw_rad", "<f4"),  # counter-clockwise from grid east
        ("pitch_rad", "<f4"),  # nose up
        ("roll_rad", "<f4"),  # right side down
        ("speed_mps", "<f4"),  # forward, body frame
        ("vx_mps", "<f4"),  # east
        ("vy_mps", "<f4"),  # north
        ("vz_mps", "<f4"),  # up
        ("yaw_rate_radps", "<f4"),
        ("accuracy_m", "<f4"),  # radius of the 68 % circle, 0 for a virtual vehicle
        ("battery_pct", "u1"),  # 255 where unknown
        ("reserved", "u1", (3,)),
    ]
)
LIVE: Final = 1  # flags: moved by fixes from the real world
DETECTS: Final = 2  # flags: within the search radius of its target

ADVISORY: Final = np.dtype(
    [
        ("to_vid", "<u4"),
        ("about_vid", "<u4"),
        ("advice", "u1"),
        ("reserved", "u1", (3,)),
        ("length_m", "<f4"),  # characteristic length of the other vehicle
        ("t_s", "<f8"),  # simulation time of the check
        ("x_m", "<f8"),
        ("y_m", "<f8"),
        ("z_m", "<f8"),
        ("vx_mps", "<f4"),
        ("vy_mps", "<f4"),
        ("vz_mps", "<f4"),
        ("distance_m", "<f4"),  # between the two, now
        ("approach_s", "<f4"),  # until the closest approach, 0 when they part
        ("miss_m", "<f4"),  # distance at the closest approach
    ]
)
assert STATE.itemsize == 96
assert ADVISORY.itemsize == 72

REACH_MAX_M: Final = 1.0e9  # no row at all is farther out; Core's own limit is the scenario's


def pack_rows(rows: Rows) -> bytes:
    return rows.tobytes()


def unpack_rows(packed: bytes, layout: np.dtype[np.void]) -> Rows:
    """A read-only view of the rows. Raises CodecError when the bytes are not whole rows."""
    if len(packed) % layout.itemsize:
        raise CodecError("cut row", f"{len(packed)} bytes are not whole rows of {layout.itemsize}")
    return np.frombuffer(packed, dtype=layout)


def empty_rows(count: int, layout: np.dtype[np.void]) -> Rows:
    return np.zeros(count, dtype=layout)


def trouble(rows: Rows, reach_m: float = REACH_MAX_M) -> NDArray[np.uint8]:
    """For each state row 0 where it can be believed, else an index into TROUBLES."""
    found = np.zeros(len(rows), dtype=np.uint8)
    height = np.abs(rows["z_m"])
    off = (np.abs(rows["x_m"]) > reach_m) | (np.abs(rows["y_m"]) > reach_m) | (height > reach_m)
    off |= (np.abs(rows["lat_deg"]) > 90.0) | (np.abs(rows["lon_deg"]) > 180.0)
    found[off] = 3
    state = rows["run_state"]
    odd = (rows["vid"] == 0) | (rows["vid"] > VID_MAX) | (state < RunState.READY) | (state > RunState.STOP)
    found[odd | (rows["t_s"] < 0.0) | (rows["accuracy_m"] < 0.0)] = 2
    raw = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), STATE.itemsize)
    doubles, floats = raw[:, 8:56].view("<f8"), raw[:, 56:92].view("<f4")
    found[~(np.isfinite(doubles).all(axis=1) & np.isfinite(floats).all(axis=1))] = 1
    return found


TROUBLES: Final = ("", "not finite", "out of range", "far off")


def row_dict(row: Any) -> dict[str, float | int]:
    """One state row as plain numbers, for people and for JSON."""
    return {name: row[name].item() for name in STATE.names or () if name != "reserved"}
