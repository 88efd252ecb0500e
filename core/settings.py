"""What Core takes from a scenario."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class RadioSettings(NamedTuple):
    """Vehicle-to-vehicle messages."""

    range_m: float = 1000.0
    loss: float = 0.0  # share of messages that do not arrive
    delay_s: float = 0.0


class CoreSettings(NamedTuple):
    beat_s: float = 0.1
    rate: float = 1.0  # simulated seconds per second
    seed: int = 1
    late_s: float = 0.5  # without news a vehicle is late, then stale, then lost
    stale_s: float = 2.0
    lost_s: float = 10.0
    reach_m: float = 100_000.0  # a position farther from the origin is refused
    avoid_lengths: float = 8.0  # warned when nearer than this many mean lengths of the two
    max_per_vehicle: int = 8  # warnings that one vehicle gets per beat, the most urgent first
    datagram_bytes: int = 1200
    countdown_s: float = 0.5  # from the word GO to simulation time 0
    radio: RadioSettings = RadioSettings()
    head: Mapping[str, Any] = MappingProxyType({})  # scenario, versions and fidelity, stored with each run
    expected: int = 0  # vehicles that the scenario has; 0 for any
