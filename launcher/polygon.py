"""Simple polygons: is an outline one, and which point is well inside."""

from typing import Final

from vehicles.behaviours.stay_in_bounds import is_inside

Corner = tuple[float, float]
_LINES: Final = 32  # horizontal lines tried for a chord
_NO_AREA_M2: Final = 1e-6


def fault(corners: list[Corner]) -> str | None:
    """Why these corners, in order, do not outline one piece of ground; None if they do."""
    n = len(corners)
    if n < 3:
        return f"a polygon needs 3 corners or more, not {n}"
    for i in range(n):
        if corners[i] == corners[(i + 1) % n]:
            return f"corners {i + 1} and {(i + 1) % n + 1} are the same"
    for i in range(n):
        for j in range(i + 2, n):
            if (j + 1) % n != i and _cross(corners[i], corners[i + 1], corners[j], corners[(j + 1) % n]):
                return f"the side after corner {i + 1} meets the side after corner {j + 1}; list the corners around the outline"
    if abs(area_m2(corners)) < _NO_AREA_M2:
        return "the corners lie on one line and enclose no area"
    return None


def area_m2(corners: list[Corner]) -> float:
    """Positive when the corners run counter-clockwise. Relative to the first, so that far corners keep their digits."""
    x0, y0 = corners[0]
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return 0.5 * sum((ax - x0) * (by - y0) - (bx - x0) * (ay - y0) for (ax, ay), (bx, by) in pairs)


def home(corners: list[Corner]) -> Corner:
    """The centroid where it is inside, else the middle of the longest chord inside, of several horizontal ones."""
    flat = tuple(value for corner in corners for value in corner)
    centre = _centroid(corners)
    if is_inside(*centre, flat):
        return centre
    low, high = min(y for _, y in corners), max(y for _, y in corners)
    best, length_m = centre, -1.0
    for k in range(_LINES):
        y = low + (high - low) * (k + 0.5) / _LINES
        crossings = sorted(_crossings(corners, y))
        for left, right in zip(crossings[::2], crossings[1::2], strict=True):
            middle = (0.5 * (left + right), y)
            if right - left > length_m and is_inside(*middle, flat):
                best, length_m = middle, right - left
    return best


def _crossings(corners: list[Corner], y: float) -> list[float]:
    sides = zip(corners, corners[1:] + corners[:1], strict=True)
    return [ax + (bx - ax) * (y - ay) / (by - ay) for (ax, ay), (bx, by) in sides if (ay > y) != (by > y)]


def _centroid(corners: list[Corner]) -> Corner:
    x0, y0 = corners[0]
    sum_x = sum_y = 0.0
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        part = (ax - x0) * (by - y0) - (bx - x0) * (ay - y0)
        sum_x += (ax + bx - 2.0 * x0) * part
        sum_y += (ay + by - 2.0 * y0) * part
    six = 6.0 * area_m2(corners)
    return x0 + sum_x / six, y0 + sum_y / six


def _turn(a: Corner, b: Corner, c: Corner) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _cross(a: Corner, b: Corner, c: Corner, d: Corner) -> bool:
    """Whether two sides that are not neighbours cross or touch."""
    abc, abd, cda, cdb = _turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b)
    if (abc > 0.0) != (abd > 0.0) and (cda > 0.0) != (cdb > 0.0) and 0.0 not in (abc, abd, cda, cdb):
        return True
    touches = ((abc, a, b, c), (abd, a, b, d), (cda, c, d, a), (cdb, c, d, b))
    return any(turn == 0.0 and _between(p, q, r) for turn, p, q, r in touches)


def _between(p: Corner, q: Corner, r: Corner) -> bool:
    """Whether r, on the line through p and q, lies on the side between them."""
    return min(p[0], q[0]) <= r[0] <= max(p[0], q[0]) and min(p[1], q[1]) <= r[1] <= max(p[1], q[1])
