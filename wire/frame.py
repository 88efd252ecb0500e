"""The world frame: east-north-up metres on the UTM grid of the scenario origin's zone, relative to the origin.

The zone is forced, so that a track across a zone border or the equator stays continuous. The projection is Krueger's
series (to the fifth order in the third flattening: better than 1e-7 m within 1,000 km of the central meridian), written
as plain functions of floats so that they run as they are for one vehicle and compiled for a fleet.
"""

import math
from typing import Final, NamedTuple

import utm

from wire.angles import TURN_RAD, wrap_pi
from wire.errors import ConfigError

WGS84_A_M: Final = 6378137.0
WGS84_F: Final = 1.0 / 298.257223563
SCALE: Final = 0.9996
_N: Final = WGS84_F / (2.0 - WGS84_F)
_N2: Final = _N * _N
_N3: Final = _N2 * _N
_N4: Final = _N3 * _N
_N5: Final = _N4 * _N
RADIUS_M: Final = SCALE * WGS84_A_M / (1.0 + _N) * (1.0 + _N2 / 4.0 + _N4 / 64.0)
ECCENTRICITY: Final = math.sqrt(WGS84_F * (2.0 - WGS84_F))

# Forward (ALPHA) and inverse (BETA) series of the projection, and conformal to geodetic latitude (DELTA).
ALPHA: Final = (
    _N / 2.0 - 2.0 / 3.0 * _N2 + 5.0 / 16.0 * _N3 + 41.0 / 180.0 * _N4 - 127.0 / 288.0 * _N5,
    13.0 / 48.0 * _N2 - 3.0 / 5.0 * _N3 + 557.0 / 1440.0 * _N4 + 281.0 / 630.0 * _N5,
    61.0 / 240.0 * _N3 - 103.0 / 140.0 * _N4 + 15061.0 / 26880.0 * _N5,
    49561.0 / 161280.0 * _N4 - 179.0 / 168.0 * _N5,
    34729.0 / 80640.0 * _N5,
)
BETA: Final = (
    _N / 2.0 - 2.0 / 3.0 * _N2 + 37.0 / 96.0 * _N3 - 1.0 / 360.0 * _N4 - 81.0 / 512.0 * _N5,
    1.0 / 48.0 * _N2 + 1.0 / 15.0 * _N3 - 437.0 / 1440.0 * _N4 + 46.0 / 105.0 * _N5,
    17.0 / 480.0 * _N3 - 37.0 / 840.0 * _N4 - 209.0 / 4480.0 * _N5,
    4397.0 / 161280.0 * _N4 - 11.0 / 504.0 * _N5,
    4583.0 / 161280.0 * _N5,
)
DELTA: Final = (
    2.0 * _N - 2.0 / 3.0 * _N2 - 2.0 * _N3 + 116.0 / 45.0 * _N4 + 26.0 / 45.0 * _N5,
    7.0 / 3.0 * _N2 - 8.0 / 5.0 * _N3 - 227.0 / 45.0 * _N4 + 2704.0 / 315.0 * _N5,
    56.0 / 15.0 * _N3 - 136.0 / 35.0 * _N4 - 1262.0 / 105.0 * _N5,
    4279.0 / 630.0 * _N4 - 332.0 / 35.0 * _N5,
    4174.0 / 315.0 * _N5,
)


class Frame(NamedTuple):
    """Where the world's zero lies. Made by `frame_at`."""

    zone: int
    meridian_rad: float  # central meridian of the zone
    east_m: float  # of the origin, from the central meridian
    north_m: float  # of the origin, from the equator
    alt_m: float  # of the origin, above the ellipsoid


def series(xi: float, eta: float, c: tuple[float, float, float, float, float]) -> tuple[float, float]:
    """The real and imaginary part of the sum of c[j] sin(2 j (xi + i eta)), by Clenshaw's recurrence."""
    grow, shrink = math.exp(2.0 * eta), math.exp(-2.0 * eta)
    ch, sh = 0.5 * (grow + shrink), 0.5 * (grow - shrink)
    s, k = math.sin(2.0 * xi), math.cos(2.0 * xi)
    a_re, a_im = 2.0 * k * ch, -2.0 * s * sh
    b1_re, b1_im, b2_re, b2_im = c[4], 0.0, 0.0, 0.0
    for j in (3, 2, 1, 0):
        b0_re = a_re * b1_re - a_im * b1_im - b2_re + c[j]
        b0_im = a_re * b1_im + a_im * b1_re - b2_im
        b2_re, b2_im, b1_re, b1_im = b1_re, b1_im, b0_re, b0_im
    sin_re, sin_im = s * ch, k * sh
    return b1_re * sin_re - b1_im * sin_im, b1_re * sin_im + b1_im * sin_re


def grid_of(lat_deg: float, lon_deg: float, meridian_rad: float) -> tuple[float, float]:
    """Metres east of the central meridian and north of the equator, scaled as UTM but without its false offsets."""
    phi = math.radians(lat_deg)
    lam = wrap_pi(math.radians(lon_deg) - meridian_rad)
    sin_phi = math.sin(phi)
    tan_phi = math.tan(phi)
    sigma = math.sinh(ECCENTRICITY * math.atanh(ECCENTRICITY * sin_phi))
    t = tan_phi * math.sqrt(1.0 + sigma * sigma) - sigma * math.sqrt(1.0 + tan_phi * tan_phi)  # finite at the poles too
    cos_lam = math.cos(lam)
    xi = math.atan2(t, cos_lam)
    eta = math.asinh(math.sin(lam) / math.sqrt(t * t + cos_lam * cos_lam))
    d_xi, d_eta = series(xi, eta, ALPHA)
    return RADIUS_M * (eta + d_eta), RADIUS_M * (xi + d_xi)


def latlon_of(x_m: float, y_m: float, frame: Frame) -> tuple[float, float]:
    """Latitude and longitude in degrees of a point of the world."""
    xi0 = (frame.north_m + y_m) / RADIUS_M
    eta0 = (frame.east_m + x_m) / RADIUS_M
    d_xi, d_eta = series(xi0, eta0, BETA)
    xi, eta = xi0 - d_xi, eta0 - d_eta
    grow, shrink = math.exp(eta), math.exp(-eta)
    ch, sh = 0.5 * (grow + shrink), 0.5 * (grow - shrink)
    sin_xi, cos_xi = math.sin(xi), math.cos(xi)
    chi = math.asin(sin_xi / ch)
    phi = chi + series(chi, 0.0, DELTA)[0]
    lam = math.atan2(sh, cos_xi)
    return phi * (180.0 / math.pi), wrap_pi(frame.meridian_rad + lam) * (180.0 / math.pi)


def world_of(lat_deg: float, lon_deg: float, frame: Frame) -> tuple[float, float]:
    """x_m and y_m of a latitude and longitude."""
    east_m, north_m = grid_of(lat_deg, lon_deg, frame.meridian_rad)
    return east_m - frame.east_m, north_m - frame.north_m


def convergence_rad(lat_deg: float, lon_deg: float, frame: Frame) -> float:
    """The angle from true north to grid north, clockwise positive (east of the central meridian, northern half)."""
    ahead_deg = 1e-5 if lat_deg < 89.9 else -1e-5
    east0_m, north0_m = grid_of(lat_deg, lon_deg, frame.meridian_rad)
    east1_m, north1_m = grid_of(lat_deg + ahead_deg, lon_deg, frame.meridian_rad)
    sign = math.copysign(1.0, ahead_deg)
    return -math.atan2(sign * (east1_m - east0_m), sign * (north1_m - north0_m))


def course_of(yaw_rad: float, convergence: float) -> float:
    """Clockwise from true north, in [0, 2 pi), for a yaw counter-clockwise from grid east."""
    course_rad = math.pi / 2.0 - yaw_rad + convergence
    wrapped_rad = course_rad - TURN_RAD * math.floor(course_rad / TURN_RAD)
    return wrapped_rad if wrapped_rad < TURN_RAD else 0.0  # rounding just west of north


def yaw_of(course_rad: float, convergence: float) -> float:
    """Counter-clockwise from grid east, in [-pi, pi), for a course clockwise from true north."""
    return wrap_pi(math.pi / 2.0 - course_rad + convergence)


def frame_at(lat_deg: float, lon_deg: float, alt_m: float = 0.0) -> Frame:
    """The world around an origin; its zone by the rules of UTM, exceptions of Norway and Svalbard included."""
    if not -80.0 <= lat_deg <= 84.0 or not -180.0 <= lon_deg <= 180.0:
        raise ConfigError(
            f"origin {lat_deg}, {lon_deg} lies outside UTM: latitude is -80 to 84 and longitude -180 to 180 degrees"
        )
    zone = int(utm.latlon_to_zone_number(lat_deg, lon_deg))
    meridian_rad = math.radians(utm.zone_number_to_central_longitude(zone))
    east_m, north_m = grid_of(lat_deg, lon_deg, meridian_rad)
    return Frame(zone, meridian_rad, east_m, north_m, alt_m)
