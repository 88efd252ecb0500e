"""One virtual vehicle: its behaviours decide once per beat, its model moves it, a row tells where it is."""

import math
import struct
from typing import Final

from vehicles.mind import NOBODY, SILENT, Command, Other, Own, Seen
from vehicles.model import Body, Motion, advance, clamp, motion
from vehicles.spec import Slot, VehicleSpec
from wire.angles import wrap_pi
from wire.frame import Frame, latlon_of
from wire.rows import DETECTS
from wire.words import NO_BEHAVIOUR, UNKNOWN_U8

PACK_STATE: Final = struct.Struct("<I4B6d9f4B").pack  # the layout of wire.rows.STATE


class Choice:
    """The scheduler's answer: the command in charge, whose it is, and whether anybody signals."""

    __slots__ = ("behaviour", "command", "signal")

    def __init__(self, command: Command, behaviour: int, signal: bool) -> None:
        self.command = command
        self.behaviour = behaviour
        self.signal = signal


def choose(own: Own, seen: Seen, slots: tuple[Slot, ...], memory: list[float]) -> Choice:
    """Subsumption: everybody is asked, the active one of highest priority takes all. Memories are kept in `memory`."""
    chosen, behaviour, signal = SILENT, NO_BEHAVIOUR, False
    for i, slot in enumerate(slots):
        command = slot.decide(own._replace(memory=memory[i]), seen, slot.settings)
        memory[i] = command.memory
        signal = signal or command.signal
        if command.active and not chosen.active:
            chosen, behaviour = command, slot.number
    return Choice(chosen, behaviour, signal)


class Vehicle:
    """The state of one vehicle between beats, in plain floats."""

    def __init__(self, spec: VehicleSpec, *, seed: int, beat_s: float, step_s: float, frame: Frame) -> None:
        self.spec = spec
        self._seed = seed
        self._beat_s = beat_s
        self._steps = round(beat_s / step_s)
        self._step_s = beat_s / self._steps
        self._frame = frame
        self._at_rest = Motion(0.0, 0.0, 0.0, 0.0)
        self.reset()

    def reset(self) -> None:
        """Initial conditions, as SET asks."""
        self.body: Body = self.spec.start
        self.memory = [0.0] * len(self.spec.slots)
        self.behaviour = NO_BEHAVIOUR
        self.signal = False
        self.report_s = math.inf
        self._steer_rad = 0.0
        self._pitch_rad = 0.0

    def advance(self, t_s: float, threat: Other = NOBODY, leader: Other = NOBODY, target: Other = NOBODY) -> None:
        """From t_s one beat on."""
        limits = self.spec.limits
        now = motion(self.body, self._steer_rad, self._pitch_rad, limits)
        own = Own(
            self.spec.vid,
            self._seed,
            t_s,
            self._beat_s,
            *self.body,
            now.vx_mps,
            now.vy_mps,
            now.vz_mps,
            limits.length_m,
            self.spec.cruise_mps,
            limits.accel_mps2,
            limits.steer_max_rad,
            limits.pitch_max_rad,
            limits.climb_max_mps > 0.0,
            limits.spin_max_radps > 0.0,
            0.0,
        )
        choice = choose(own, Seen(threat, leader, target, self.report_s), self.spec.slots, self.memory)
        command = choice.command
        self.behaviour, self.signal = choice.behaviour, choice.signal
        self._steer_rad = clamp(command.steer_rad, -limits.steer_max_rad, limits.steer_max_rad)
        self._pitch_rad = clamp(command.pitch_rad, -limits.pitch_max_rad, limits.pitch_max_rad)
        self.body = advance(self.body, self._steer_rad, command.speed_mps, self._pitch_rad, limits, self._step_s, self._steps)

    def row(self, t_s: float, run_state: int, margin_pct: int, moving: bool) -> bytes:
        """The packed state row; its velocity is zero while the run holds still."""
        body = self.body
        rates = motion(body, self._steer_rad, self._pitch_rad, self.spec.limits) if moving else self._at_rest
        lat_deg, lon_deg = latlon_of(body.x_m, body.y_m, self._frame)
        return PACK_STATE(
            self.spec.vid,
            run_state,
            self.behaviour,
            DETECTS if self.signal else 0,
            margin_pct,
            t_s,
            body.x_m,
            body.y_m,
            body.z_m,
            lat_deg,
            lon_deg,
            wrap_pi(body.yaw_rad),
            self._pitch_rad,
            0.0,
            body.speed_mps if moving else 0.0,
            *rates,
            0.0,
            UNKNOWN_U8,
            0,
            0,
            0,
        )
