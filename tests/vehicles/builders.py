"""Vehicles for tests, with as little said as possible."""

from typing import Any

from vehicles.behaviours import BEHAVIOURS
from vehicles.fleet import Fleet
from vehicles.kinds import KINDS
from vehicles.mind import NOBODY, Other, Own, Seen
from vehicles.model import Body
from vehicles.spec import Slot, VehicleSpec
from wire.frame import frame_at
from wire.words import Kind

FRAME = frame_at(29.18877, -81.04628)
ALONE = Seen(NOBODY, NOBODY, NOBODY, float("inf"))


def slot(name: str, **settings: Any) -> Slot:
    behaviour = BEHAVIOURS[name]
    return Slot(name, behaviour.number, behaviour.priority, behaviour.decide, behaviour.settings(**settings))


def spec(
    vid: int = 101,
    *slots: Slot,
    kind: Kind = Kind.GROUND,
    start: Body | None = None,
    cruise_mps: float | None = None,
    **limits: Any,
) -> VehicleSpec:
    traits = KINDS[kind]
    return VehicleSpec(
        vid=vid,
        name=f"{traits.word} {vid}",
        kind=kind,
        limits=traits.limits._replace(**limits),
        start=start or Body(0.0, 0.0, 0.0, 0.0, 0.0),
        cruise_mps=traits.cruise_mps if cruise_mps is None else cruise_mps,
        slots=tuple(sorted(slots, key=lambda s: -s.priority)) or (slot("wander"),),
    )


def fleet(*specs: VehicleSpec, seed: int = 1, **how: Any) -> Fleet:
    return Fleet(specs, seed=seed, **({"beat_s": 0.1, "step_s": 0.05, "frame": FRAME} | how))


def own(**changes: Any) -> Own:
    limits = KINDS[Kind.GROUND].limits
    plain = Own(
        vid=101,
        seed=1,
        t_s=0.0,
        beat_s=0.1,
        x_m=0.0,
        y_m=0.0,
        z_m=0.0,
        yaw_rad=0.0,
        speed_mps=5.0,
        vx_mps=5.0,
        vy_mps=0.0,
        vz_mps=0.0,
        length_m=limits.length_m,
        cruise_mps=5.0,
        accel_mps2=limits.accel_mps2,
        steer_max_rad=limits.steer_max_rad,
        pitch_max_rad=limits.pitch_max_rad,
        climbs=False,
        spins=False,
        memory=0.0,
    )
    return plain._replace(**changes)


def other(x_m: float, y_m: float, z_m: float = 0.0, **changes: Any) -> Other:
    return NOBODY._replace(known=True, vid=102, x_m=x_m, y_m=y_m, z_m=z_m, length_m=2.7)._replace(**changes)
