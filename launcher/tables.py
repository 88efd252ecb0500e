"""The tables of a scenario file, as pydantic models: keys, units, defaults and ranges. docs/scenario.md explains them."""

import math
from pathlib import PurePath
from typing import Annotated, Any, Final

from annotated_types import Ge, Gt, Le, Len
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from launcher.faults import key_fault, table_fault, unknown
from vehicles.kinds import KIND_WORDS
from wire.words import VID_MAX

COUNT_MAX: Final = 100_000
FAR_M: Final = 10_000_000.0  # no coordinate of the world is larger
STEP_S: Final = 0.05

Positive = Annotated[float, Gt(0), Le(FAR_M)]
NotNegative = Annotated[float, Ge(0), Le(FAR_M)]
Metres = Annotated[float, Ge(-FAR_M), Le(FAR_M)]
Angle = Annotated[float, Ge(-1000), Le(1000)]
UpToRightAngle = Annotated[float, Gt(0), Le(math.pi / 2)]
Latitude = Annotated[float, Ge(-90), Le(90)]
Longitude = Annotated[float, Ge(-180), Le(180)]
Port = Annotated[int, Ge(0), Le(65_535)]
Rating = Annotated[int, Ge(0), Le(3)]
Name = Annotated[str, Len(1, 64)]


class Table(BaseModel):
    """Frozen; unknown keys, wrong types and numbers that are not finite are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Origin(Table):
    lat_deg: Annotated[float, Ge(-80), Le(84)]  # as far as UTM goes
    lon_deg: Longitude
    alt_m: Metres = 0.0


class CoreTable(Table):
    host: Annotated[str, Len(1, 255)] = "127.0.0.1"
    udp_port: Port = 6600
    control_port: Port = 6601
    publish_port: Port = 6602
    record_port: Port = 6603
    datagram_bytes: Annotated[int, Ge(400), Le(65_000)] = 1200
    late_s: Positive = 0.5
    stale_s: Positive = 2.0
    lost_s: Positive = 10.0
    reach_m: Positive = 100_000.0

    @model_validator(mode="after")
    def _hangs_together(self) -> "CoreTable":
        taken: dict[int, str] = {}
        for key in ("udp_port", "control_port", "publish_port", "record_port"):
            port = getattr(self, key)
            if port and port in taken:
                raise table_fault(f"'{taken[port]}' and '{key}' are both {port}; give each a port of its own, or 0")
            taken[port] = key
        if not self.late_s <= self.stale_s <= self.lost_s:
            raise table_fault("'late_s', 'stale_s' and 'lost_s' must not fall: a vehicle is late, then stale, then lost")
        return self


class ProximityTable(Table):
    avoid_lengths: Annotated[float, Gt(0), Le(10_000)] = 8.0
    max_per_vehicle: Annotated[int, Ge(1), Le(255)] = 8


class RadioTable(Table):
    range_m: NotNegative = 1000.0
    loss: Annotated[float, Ge(0), Le(1)] = 0.0
    delay_s: Annotated[float, Ge(0), Le(3600)] = 0.0


class BoundsTable(Table):
    """A box or any simple polygon. In stay_in_bounds all keys may be left out."""

    half_width_m: Positive | None = None
    half_height_m: Positive | None = None
    centre: Annotated[list[Metres], Len(2, 2)] | None = None
    corners_m: Annotated[list[Annotated[list[Metres], Len(2, 2)]], Len(3, 500)] | None = None
    corners_deg: Annotated[list[Annotated[list[float], Len(2, 2)]], Len(3, 500)] | None = None

    @model_validator(mode="after")
    def _is_one_shape(self) -> "BoundsTable":
        shapes = [key for key in ("half_width_m", "corners_m", "corners_deg") if getattr(self, key) is not None]
        if len(shapes) > 1:
            raise table_fault(f"'{shapes[0]}' and '{shapes[1]}' exclude each other; keep one")
        for key in ("half_height_m", "centre"):
            if getattr(self, key) is not None and self.half_width_m is None:
                raise table_fault(f"'{key}' needs 'half_width_m'")
        if any(not (abs(lat) <= 90 and abs(lon) <= 180) for lat, lon in self.corners_deg or ()):
            raise table_fault("'corners_deg' holds [latitude, longitude]; allowed is -90 to 90 and -180 to 180")
        return self

    @property
    def is_empty(self) -> bool:
        return self.half_width_m is None and self.corners_m is None and self.corners_deg is None


class FidelityTable(Table):
    vehicle: Rating | None = None
    sensors: Rating | None = None
    algorithms: Rating | None = None
    environment: Rating | None = None
    pedestrians: Rating | None = None


class LimitsTable(Table):
    """The numbers of vehicles.model.Limits; what is left out is the kind's."""

    length_m: Positive | None = None
    lever_m: NotNegative | None = None
    speed_min_mps: NotNegative | None = None
    speed_max_mps: Positive | None = None
    accel_mps2: Positive | None = None
    steer_max_rad: UpToRightAngle | None = None
    spin_max_radps: Annotated[float, Ge(0), Le(100)] | None = None
    pitch_max_rad: UpToRightAngle | None = None
    climb_max_mps: NotNegative | None = None
    z_low_m: Metres | None = None
    z_high_m: Metres | None = None


class StartTable(Table):
    """A place in metres, a place in degrees, or a square over which many are spread."""

    x_m: Metres | None = None
    y_m: Metres | None = None
    z_m: Metres | None = None
    lat_deg: Latitude | None = None
    lon_deg: Longitude | None = None
    alt_m: Metres | None = None
    spread_m: Positive | None = None
    gap_m: NotNegative | None = None
    height_m: Metres | None = None
    yaw_rad: Angle | None = None
    speed_mps: NotNegative | None = None

    @model_validator(mode="after")
    def _is_one_form(self) -> "StartTable":
        given = {key for key, value in self if value is not None}
        if "spread_m" in given:
            wrong, form = given & {"z_m", "lat_deg", "lon_deg", "alt_m"}, "'spread_m'"
        elif given & {"lat_deg", "lon_deg"}:
            wrong, form = given & {"x_m", "y_m", "z_m", "gap_m", "height_m"}, "'lat_deg' and 'lon_deg'"
            if not {"lat_deg", "lon_deg"} <= given:
                raise table_fault("'lat_deg' and 'lon_deg' need each other")
        else:
            wrong, form = given & {"alt_m", "gap_m", "height_m"}, "'x_m' and 'y_m'"
        if wrong:
            raise table_fault(f"'{min(wrong)}' does not go with a start by {form}")
        return self


class VehicleTable(Table):
    vid: Annotated[int, Ge(1), Le(VID_MAX)]
    kind: str = "ground"
    name: Name | None = None
    count: Annotated[int, Ge(1), Le(COUNT_MAX)] = 1
    per_process: Annotated[int, Ge(1), Le(COUNT_MAX)] | None = None
    cruise_mps: NotNegative | None = None
    length_m: Positive | None = None
    limits: LimitsTable = LimitsTable()
    start: StartTable = StartTable()
    behaviours: list[Any] = Field(default_factory=list)  # each is checked against its own settings

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in KIND_WORDS:
            raise key_fault(unknown("kind", kind, KIND_WORDS))
        return kind

    @model_validator(mode="after")
    def _hangs_together(self) -> "VehicleTable":
        if self.vid + self.count - 1 > VID_MAX:
            raise table_fault(f"'vid' and 'count' reach beyond the largest vid, {VID_MAX}")
        if self.count > 1 and self.start.spread_m is None:
            raise table_fault(f"{self.count} vehicles cannot start at one place; give 'start' a 'spread_m'")
        if self.length_m is not None and self.limits.length_m not in (None, self.length_m):
            raise table_fault("'length_m' differs from 'length_m' in 'limits'; keep one")
        return self


class ScenarioTable(Table):
    """The top of the file. Vehicles are checked one by one, so that a fault in one does not hide those in others."""

    name: Annotated[str, Len(1, 200)] | None = None
    duration_s: Annotated[float, Gt(0), Le(31_536_000)]
    seed: Annotated[int, Ge(0), Le(2**32 - 1)] = 1
    beat_s: Annotated[float, Ge(0.01), Le(10)] = 0.1
    step_s: Annotated[float, Gt(0), Le(10)] | None = None
    origin: Origin
    folder: str | None = None  # where own behaviours are; written into records
    core: CoreTable = CoreTable()
    proximity: ProximityTable = ProximityTable()
    radio: RadioTable = RadioTable()
    bounds: BoundsTable | None = None
    fidelity: FidelityTable = FidelityTable()
    vehicles: Annotated[list[Any], Len(1)]

    @model_validator(mode="after")
    def _has_whole_steps(self) -> "ScenarioTable":
        if self.step_s is None:
            return self
        steps = max(1, round(self.beat_s / self.step_s))
        if self.beat_s / self.step_s > 10_000:
            raise table_fault(f"'step_s' = {self.step_s:g} makes more than 10,000 steps of a beat")
        if abs(self.beat_s / self.step_s - steps) > 1e-6:
            nearest = f"{self.beat_s / steps:.6g}"
            raise table_fault(
                f"'step_s' = {self.step_s:g} is not a whole fraction of 'beat_s' = {self.beat_s:g}; the nearest is {nearest}"
            )
        return self

    @property
    def whole_step_s(self) -> float:
        """The step as given, or the longest whole fraction of the beat up to 0.05 s."""
        return self.step_s or self.beat_s / math.ceil(self.beat_s / STEP_S - 1e-9)


def stem(path: str) -> str:
    return PurePath(path).stem or "scenario"
