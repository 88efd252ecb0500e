"""The built-in kinds and what each can do. A scenario may change any of these numbers for a vehicle."""

from typing import Final, NamedTuple

from vehicles.model import Limits
from wire.words import Kind


class KindTraits(NamedTuple):
    word: str  # in scenarios, on the map, in exports
    cruise_mps: float
    limits: Limits


_AIR_TOP_M: Final = 12_000.0
_SEA_BOTTOM_M: Final = -11_000.0
_LAND_LOW_M: Final = -500.0
_LAND_HIGH_M: Final = 9_000.0


def _rolling(length_m: float, speed_mps: float, accel_mps2: float, steer_rad: float, low_m: float) -> Limits:
    """Steers by rolling or by rudder: the faster, the quicker it turns. Stays at its height."""
    return Limits(
        length_m=length_m,
        lever_m=length_m / 2.0,
        speed_min_mps=0.0,
        speed_max_mps=speed_mps,
        accel_mps2=accel_mps2,
        steer_max_rad=steer_rad,
        spin_max_radps=0.0,
        pitch_max_rad=0.3,
        climb_max_mps=0.0,
        hovers=False,
        z_low_m=low_m,
        z_high_m=_LAND_HIGH_M,
    )


_CAR: Final = _rolling(length_m=2.7, speed_mps=40.0, accel_mps2=3.0, steer_rad=0.5, low_m=_LAND_LOW_M)
_BOAT: Final = _rolling(length_m=6.0, speed_mps=15.0, accel_mps2=1.0, steer_rad=0.6, low_m=_LAND_LOW_M)
_PLANE: Final = Limits(
    length_m=2.0,
    lever_m=1.0,
    speed_min_mps=10.0,
    speed_max_mps=60.0,
    accel_mps2=3.0,
    steer_max_rad=0.1,
    spin_max_radps=0.0,
    pitch_max_rad=0.35,
    climb_max_mps=8.0,
    hovers=False,
    z_low_m=0.0,
    z_high_m=_AIR_TOP_M,
)
_COPTER: Final = Limits(
    length_m=0.6,
    lever_m=0.0,
    speed_min_mps=0.0,
    speed_max_mps=20.0,
    accel_mps2=4.0,
    steer_max_rad=1.0,
    spin_max_radps=1.5,
    pitch_max_rad=0.5,
    climb_max_mps=4.0,
    hovers=True,
    z_low_m=0.0,
    z_high_m=_AIR_TOP_M,
)
_GLIDER: Final = Limits(
    length_m=3.0,
    lever_m=1.5,
    speed_min_mps=0.0,
    speed_max_mps=5.0,
    accel_mps2=0.5,
    steer_max_rad=0.5,
    spin_max_radps=0.0,
    pitch_max_rad=0.6,
    climb_max_mps=1.5,
    hovers=False,
    z_low_m=_SEA_BOTTOM_M,
    z_high_m=0.0,
)
_PERSON: Final = Limits(
    length_m=0.5,
    lever_m=0.0,
    speed_min_mps=0.0,
    speed_max_mps=6.0,
    accel_mps2=2.0,
    steer_max_rad=1.0,
    spin_max_radps=3.0,
    pitch_max_rad=0.3,
    climb_max_mps=0.0,
    hovers=False,
    z_low_m=_LAND_LOW_M,
    z_high_m=_LAND_HIGH_M,
)

KINDS: Final[dict[Kind, KindTraits]] = {
    Kind.GROUND: KindTraits("ground", 5.0, _CAR),
    Kind.FIXED_WING: KindTraits("fixed_wing", 20.0, _PLANE),
    Kind.MULTIROTOR: KindTraits("multirotor", 5.0, _COPTER),
    Kind.SURFACE: KindTraits("surface", 4.0, _BOAT),
    Kind.UNDERWATER: KindTraits("underwater", 1.5, _GLIDER),
    Kind.PEDESTRIAN: KindTraits("pedestrian", 1.4, _PERSON),
}
KIND_WORDS: Final[dict[str, Kind]] = {traits.word: kind for kind, traits in KINDS.items()}
