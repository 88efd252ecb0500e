import contextlib
import json
import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from launcher import places, scenario
from launcher.scenario import Overrides, Scenario, from_dict, load
from launcher.tables import LimitsTable
from vehicles.behaviours import BEHAVIOURS
from vehicles.kinds import KINDS
from vehicles.model import Body, Limits
from wire.errors import ConfigError
from wire.frame import latlon_of
from wire.words import VID_MAX, Kind

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))
TOP = """
duration_s = 60
origin = { lat_deg = 29.18877, lon_deg = -81.04628, alt_m = 4.0 }
"""
CAR = '[[vehicles]]\nvid = 101\nkind = "ground"\n'
OWN = """
from typing import Annotated, NamedTuple
from annotated_types import Le
from vehicles.mind import Command, Own, Seen

class Spin(NamedTuple):
    steer_rad: Annotated[float, Le(1)] = 0.1
    tags: tuple[int, ...] = ()

def spin(own: Own, seen: Seen, s: Spin) -> Command:
    return Command(True, s.steer_rad, own.cruise_mps, 0.0, 0.0, False)

def bare(own, seen, s):
    return spin(own, seen, Spin())

def two(own: Own, s: Spin) -> None: ...
"""


@pytest.fixture
def loaded(tmp_path):
    def write_and_load(text, overrides=None):
        path = tmp_path / "a.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, overrides)

    return write_and_load


@pytest.fixture
def told(loaded):
    def sentences(text, overrides=None):
        with pytest.raises(ConfigError) as caught:
            loaded(text, overrides)
        return str(caught.value).split("\n")

    return sentences


def with_behaviour(text):
    return TOP + CAR + f"behaviours = [ {text} ]"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_loads_and_comes_back_equal_from_its_dict(path):
    found = load(path)
    whole = found.as_dict()
    again = from_dict(json.loads(json.dumps(whole)))
    assert again == found
    assert again.specs() == found.specs()
    assert again.as_dict() == whole


def test_there_are_five_configs():
    names = {path.stem for path in CONFIGS}
    assert names >= {"three_vehicles", "sixteen_vehicles", "search", "follow", "mixed_domains"}


def test_the_papers_first_scenario_is_rated_four():
    path = next(path for path in CONFIGS if path.stem == "three_vehicles")
    assert str(load(path).fidelity()) == "1/1/1/1/0 = 4"


def test_defaults_are_filled_in(loaded):
    found = loaded(TOP + CAR)
    assert (found.name, found.seed, found.beat_s, found.step_s) == ("a", 1, 0.1, 0.05)
    assert (found.core.udp_port, found.core.reach_m, found.proximity.avoid_lengths) == (6600, 100_000.0, 8.0)
    (spec,) = found.specs()
    assert (spec.vid, spec.name, spec.kind, spec.cruise_mps) == (101, "ground 101", Kind.GROUND, 5.0)
    assert spec.limits == KINDS[Kind.GROUND].limits
    assert spec.start == Body(0.0, 0.0, 0.0, 0.0, 0.0)
    assert found.frame.alt_m == 4.0


def test_the_step_is_a_whole_fraction_of_any_beat_by_default(loaded):
    assert loaded("beat_s = 0.01\n" + TOP + CAR).step_s == 0.01
    assert loaded("beat_s = 0.12\n" + TOP + CAR).step_s == pytest.approx(0.04)


def test_overrides_win(loaded):
    found = loaded(TOP + CAR, Overrides(duration_s=5.0, seed=9))
    assert (found.duration_s, found.seed) == (5.0, 9)


def test_the_lever_follows_the_length(loaded):
    limits = loaded(TOP + CAR + "length_m = 4\nlimits = { speed_max_mps = 3 }").specs()[0].limits
    assert (limits.length_m, limits.lever_m, limits.speed_max_mps) == (4.0, 2.0, 3.0)
    assert loaded(TOP + CAR + "limits = { speed_max_mps = 3 }").specs()[0].cruise_mps == 3.0
    walker = loaded(TOP + '[[vehicles]]\nvid = 1\nkind = "pedestrian"\nlength_m = 1.0').specs()[0].limits
    assert (walker.length_m, walker.lever_m) == (1.0, 0.0)


def test_every_number_of_the_limits_can_be_set():
    assert set(LimitsTable.model_fields) == set(Limits._fields) - {"hovers"}


def test_a_plane_starts_at_its_lowest_speed(loaded):
    plane = '[[vehicles]]\nvid = 1\nkind = "fixed_wing"\nstart = { z_m = 50 }'
    assert loaded(TOP + plane).specs()[0].start.speed_mps == 10.0


def test_a_start_in_degrees(loaded):
    frame = loaded(TOP + CAR).frame
    lat_deg, lon_deg = latlon_of(30.0, -40.0, frame)
    start = loaded(TOP + CAR + f"start = {{ lat_deg = {lat_deg!r}, lon_deg = {lon_deg!r}, alt_m = 6 }}").specs()[0].start
    assert start[:3] == pytest.approx((30.0, -40.0, 2.0), abs=1e-6)


def test_slots_fall_in_priority_and_equals_keep_their_order(loaded):
    text = '{ name = "wander" }, { name = "follow_path", waypoints = [[1, 2]] }, { name = "avoid", priority = 3 }'
    slots = loaded(with_behaviour(text)).specs()[0].slots
    assert [(slot.name, slot.priority, slot.number) for slot in slots] == [
        ("follow_path", 3, 7),
        ("avoid", 3, 5),
        ("wander", 1, 1),
    ]
    assert slots[1].decide is BEHAVIOURS["avoid"].decide


def many(count, keys=""):
    start = "start = { spread_m = 200, gap_m = 10, height_m = 3 }"
    return TOP + f"[[vehicles]]\nvid = 500\ncount = {count}\n{keys}{start}\n"


def test_many_are_spread_at_least_a_gap_apart(loaded):
    specs = loaded(many(300)).specs()
    assert [spec.vid for spec in specs] == list(range(500, 800))
    assert specs[0].name == "ground 500"
    at = [spec.start for spec in specs]
    assert all(max(abs(body.x_m), abs(body.y_m)) <= 200.0 and body.z_m == 3.0 for body in at)
    gaps = [math.hypot(a.x_m - b.x_m, a.y_m - b.y_m) for i, a in enumerate(at) for b in at[:i]]
    assert min(gaps) >= 10.0 - 1e-9
    assert len({body.yaw_rad for body in at}) == 300


def test_places_depend_on_the_seed_alone(loaded):
    text = many(20)
    assert loaded(text).specs() == loaded(text).specs()
    assert loaded(text, Overrides(seed=2)).specs() != loaded(text).specs()


@given(st.integers(1, 200), st.integers(0, 2**32 - 1), st.floats(0.0, 20.0))
def test_what_fits_is_placed_with_its_gap(count, seed, gap_m):
    spread_m = gap_m * math.ceil(math.sqrt(count)) / 2 + 1e-6
    assert places.room(spread_m, gap_m) >= count
    spots = places.spread(seed, 7, count, spread_m, gap_m)
    assert min([math.dist(a[:2], b[:2]) for i, a in enumerate(spots) for b in spots[:i]], default=gap_m) >= gap_m - 1e-6


@pytest.mark.parametrize(
    ("count", "key", "sizes"),
    [(3, "", [1, 1, 1]), (100, "", [1] * 100), (101, "", [51, 50]), (5, "per_process = 2\n", [2, 2, 1])],
)
def test_vehicles_are_grouped_into_processes(loaded, count, key, sizes):
    groups = loaded(many(count, key)).processes()
    assert [len(vids) for vids in groups] == sizes
    assert [vid for vids in groups for vid in vids] == list(range(500, 500 + count))


def test_waypoint_files_are_kept_in_the_dict(loaded, tmp_path):
    (tmp_path / "route.csv").write_text("x_m,y_m\n1,2\n")
    found = loaded(with_behaviour('{ name = "follow_path", file = "route.csv" }'))
    (tmp_path / "route.csv").unlink()
    assert from_dict(found.as_dict()) == found


def test_fidelity_overrides_win(loaded):
    assert str(loaded(TOP + "[fidelity]\nvehicle = 3\n" + CAR).fidelity()) == "3/0/0/1/0 = 4"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("beat = 1\n" + TOP + CAR, "a.toml: unknown key 'beat'; did you mean 'beat_s'?"),
        (TOP + "[core]\nudp_prt = 1\n" + CAR, "a.toml [core]: unknown key 'udp_prt'; did you mean 'udp_port'?"),
        (
            with_behaviour('{ name = "wander" }, { name = "periodic_turn", evry_s = 8.0 }'),
            "a.toml [vehicles 1, behaviours 2]: unknown key 'evry_s'; did you mean 'every_s'?",
        ),
        (
            with_behaviour('{ name = "wander", fast = true }'),
            "a.toml [vehicles 1, behaviours 1]: unknown key 'fast'; nothing can be set here",
        ),
        (TOP + CAR + "start = { xm = 1 }", "a.toml [vehicles 1, start]: unknown key 'xm'; did you mean 'x_m'?"),
        ('seed = "seven"\n' + TOP + CAR, "a.toml: 'seed' must be a whole number, not the text \"seven\""),
        ("seed = true\n" + TOP + CAR, "a.toml: 'seed' must be a whole number, not true"),
        ("core = 3\n" + TOP + CAR, "a.toml: 'core' must be a table, not 3"),
        (TOP + "vehicles = 3", "a.toml: 'vehicles' must be an array, not 3"),
        (with_behaviour("3"), "a.toml [vehicles 1, behaviours 1]: it must be a table, not 3"),
        (TOP + "[[vehicles]]", "a.toml [vehicles 1]: missing key 'vid'"),
        (TOP, "a.toml: missing key 'vehicles'"),
        (CAR, "a.toml: missing key 'duration_s'"),
        ("origin = { lat_deg = 1 }\nduration_s = 1\n" + CAR, "a.toml [origin]: missing key 'lon_deg'"),
        (with_behaviour("{ every_s = 1 }"), "a.toml [vehicles 1, behaviours 1]: missing key 'name'"),
        (with_behaviour('{ name = "follow_me" }'), "a.toml [vehicles 1, behaviours 1]: missing key 'leader'"),
        (
            TOP + "[radio]\nloss = 1.5\n" + CAR,
            "a.toml [radio]: 'loss' = 1.5 is out of range; allowed is 0 to 1",
        ),
        ("beat_s = 20\n" + TOP + CAR, "a.toml: 'beat_s' = 20 is out of range; allowed is 0.01 to 10"),
        (
            "seed = -1\n" + TOP + CAR,
            "a.toml: 'seed' = -1 is out of range; allowed is 0 to 4294967295",
        ),
        (
            with_behaviour('{ name = "avoid", horizon_s = -1 }'),
            "a.toml [vehicles 1, behaviours 1]: 'horizon_s' = -1 is out of range; allowed is 0 or more",
        ),
        ("seed = 99999999999999999999\n" + TOP + CAR, "a.toml [seed]: a whole number is too large"),
        (TOP + CAR + "cruise_mps = nan", "a.toml [vehicles 1, cruise_mps]: nan is not a number that can be used"),
        (TOP + CAR + "cruise_mps = inf", "a.toml [vehicles 1, cruise_mps]: inf is not a number that can be used"),
        (TOP + CAR + "cruise_mps = 50", "'cruise_mps' = 50 is out of range; allowed for this vehicle is 0 to 40"),
        (TOP + CAR + "limits = { speed_min_mps = 50 }", "[vehicles 1, limits]: 'speed_min_mps' = 50 is above"),
        (TOP + CAR + "length_m = 1\nlimits = { length_m = 2 }", "'length_m' differs from 'length_m' in 'limits'"),
        (
            TOP + CAR.replace("ground", "grond"),
            "a.toml [vehicles 1]: unknown kind 'grond'; did you mean 'ground'?",
        ),
        (
            with_behaviour('{ name = "wandr" }'),
            "a.toml [vehicles 1, behaviours 1]: unknown behaviour 'wandr'; did you mean 'wander'?",
        ),
        (TOP + CAR + CAR, "a.toml [vehicles 2]: vid 101 is taken already, by [vehicles 1]"),
        (
            TOP + CAR + "[[vehicles]]\nvid = 98\ncount = 5\nstart = { spread_m = 90 }",
            "a.toml [vehicles 2]: vid 101 is taken already, by [vehicles 1]",
        ),
        (
            with_behaviour('{ name = "follow_me", leader = 7 }'),
            "a.toml [vehicles 1, behaviours 1]: 'leader' = 7 does not exist; no vehicle has this vid",
        ),
        (
            with_behaviour('{ name = "search_and_report", target = 900 }'),
            "a.toml [vehicles 1, behaviours 1]: 'target' = 900 does not exist; no vehicle has this vid",
        ),
        (with_behaviour('{ name = "follow_me", leader = 101 }'), "'leader' = 101 is the vehicle itself"),
        (
            "beat_s = 0.1\nstep_s = 0.03\n" + TOP + CAR,
            "a.toml: 'step_s' = 0.03 is not a whole fraction of 'beat_s' = 0.1; the nearest is 0.0333333",
        ),
        ("step_s = 1\n" + TOP + CAR, "a.toml: 'step_s' = 1 is not a whole fraction of 'beat_s' = 0.1"),
        ("step_s = 1e-9\n" + TOP + CAR, "makes more than 10,000 steps of a beat"),
        (with_behaviour('{ name = "follow_path", file = "gone.gpx" }'), "gone.gpx' does not exist"),
        (
            TOP + "[core]\npublish_port = 6600\n" + CAR,
            "a.toml [core]: 'udp_port' and 'publish_port' are both 6600; give each a port of its own, or 0",
        ),
        (TOP + "[core]\nlost_s = 1\n" + CAR, "a.toml [core]: 'late_s', 'stale_s' and 'lost_s' must not fall"),
        (TOP + "[bounds]\n" + CAR, "a.toml [bounds]: it is empty; give 'half_width_m'"),
        (
            TOP + "[bounds]\ncorners_m = [[0,0],[9,9],[9,0],[0,9]]\n" + CAR,
            "a.toml [bounds]: 'corners_m': the side after corner 1 meets",
        ),
        (with_behaviour('{ name = "stay_in_bounds" }'), "[vehicles 1, behaviours 1]: stay_in_bounds has no bounds"),
        (
            TOP + CAR + "count = 3",
            "a.toml [vehicles 1]: 3 vehicles cannot start at one place; give 'start' a 'spread_m'",
        ),
        (
            TOP + CAR + "count = 30\nstart = { spread_m = 20, gap_m = 10 }",
            "[vehicles 1, start]: 30 vehicles with a 'gap_m' of 10 do not fit into a square of 'spread_m' = 20 to each side, "
            "which has room for 16",
        ),
        (TOP + CAR + "start = { lat_deg = 1 }", "[vehicles 1, start]: 'lat_deg' and 'lon_deg' need each other"),
        (TOP + CAR + "start = { x_m = 1, alt_m = 2 }", "'alt_m' does not go with a start by 'x_m' and 'y_m'"),
        (TOP + CAR + "start = { lat_deg = 1, lon_deg = 2 }", "km from the origin, beyond 'reach_m' of [core]"),
        (TOP + CAR + "start = { z_m = -900 }", "[vehicles 1, start]: 'z_m' = -900 is out of range"),
        (TOP + CAR + "start = { speed_mps = 41 }", "'speed_mps' = 41 is out of range; allowed for this vehicle is 0 to 40"),
        (
            TOP + f"[[vehicles]]\nvid = {VID_MAX}\ncount = 2\nstart = {{ spread_m = 90 }}",
            f"'vid' and 'count' reach beyond the largest vid, {VID_MAX}",
        ),
        (TOP + "[fidelity]\nsensors = 4\n" + CAR, "[fidelity]: 'sensors' = 4 is out of range; allowed is 0 to 3"),
        (with_behaviour('{ name = "a:b" }'), "module 'a' is neither in"),
        (with_behaviour('{ name = "a b:c" }'), "must be a module and a function, as in 'my_module:my_function'"),
        ("name = \n", "a.toml line 1, column 8: not TOML: invalid value"),
        ("a" * 300_000 + " = " + "[" * 300_000, "a.toml: nested too deeply"),
        ("a = " + "9" * 5000, "a.toml: not TOML"),
        (b"name = '\xff'", "a.toml line 1: not UTF-8 text"),
    ],
)
def test_a_fault_is_one_sentence_that_names_file_table_and_key(told, text, sentence):
    assert any(sentence in said for said in told(text)), told(text)


def test_all_faults_are_told_at_once(told):
    text = "bet_s = 1\n" + TOP + '[[vehicles]]\nvid = "x"\nbehaviours = [{ name = "avid" }]\n[[vehicles]]\nvid = 2\nkind = "x"'
    assert len(told(text)) == 4


def test_very_many_faults_are_counted(told):
    said = told("".join(f"key{i} = 1\n" for i in range(70)) + TOP + CAR)
    assert len(said) == 51
    assert said[-1] == "a.toml: and 20 more faults"


def test_a_second_leader_is_refused(told):
    cars = CAR + CAR.replace("101", "102")
    leaders = 'behaviours = [{ name = "follow_me", leader = 101 }, { name = "follow_me", leader = 102 }]'
    text = TOP + cars + CAR.replace("101", "103") + leaders
    assert told(text) == ["a.toml [vehicles 3, behaviours 2]: 'leader' = 102 is a second leader; a vehicle has one"]


def test_a_wrong_override_is_refused(told):
    assert "'duration_s' = -1.0 is out of range" in told(TOP + CAR, Overrides(duration_s=-1.0))[0]
    assert "not a number that can be used" in told(TOP + CAR, Overrides(duration_s=math.inf))[0]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml' does not exist"):
        load(tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ConfigError, match="null byte"):
        load("a\0.toml")


def test_a_huge_file_is_not_read(told, monkeypatch):
    monkeypatch.setattr(scenario, "SIZE_MAX", 10)
    assert "larger than" in told(TOP + CAR)[0]


def test_an_own_behaviour_is_found_beside_the_scenario(loaded, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    text = '{ name = "mine:spin", priority = 5, steer_rad = 0.3, tags = [1, 2] }, { name = "wander" }'
    found = loaded(with_behaviour(text))
    slot = found.specs()[0].slots[0]
    assert (slot.name, slot.number, slot.priority) == ("mine:spin", 100, 5)
    assert (slot.settings.steer_rad, slot.settings.tags) == (0.3, (1, 2))
    assert found.behaviour_names()["100"] == "mine:spin"
    assert found.behaviour_names()["1"] == "wander"
    assert found.fidelity().sensors == 1
    assert from_dict(json.loads(json.dumps(found.as_dict()))) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{ name = "mine:spin" }', "missing key 'priority'"),
        ('{ name = "mine:spn", priority = 1 }', "module 'mine' has an unknown function 'spn'; did you mean 'spin'?"),
        ('{ name = "mine:bare", priority = 1 }', "its parameter 's' must be annotated with a NamedTuple"),
        ('{ name = "mine:two", priority = 1 }', "must be a function (own, seen, s) -> Command"),
        ('{ name = "mine:spin", priority = 1, stear_rad = 1 }', "unknown key 'stear_rad'; did you mean 'steer_rad'?"),
        ('{ name = "mine:spin", priority = 1, steer_rad = 2 }', "'steer_rad' = 2 is out of range; allowed is 1 or less"),
        ('{ name = "mine:spin", priority = -1 }', "'priority' = -1 is out of range; allowed is 0 to 1000"),
        ('{ name = "broken:f", priority = 1 }', "module 'broken' cannot be imported: ZeroDivisionError"),
        ('{ name = "leaves:f", priority = 1 }', "module 'leaves' cannot be imported: SystemExit"),
        ('{ name = "needs:f", priority = 1 }', "module 'needs' cannot be imported: No module named 'not_there'"),
        ('{ name = "odd:f", priority = 1 }', "its settings cannot be checked"),
        ('{ name = "odd:g", priority = 1 }', "its annotations cannot be read"),
    ],
)
def test_a_wrong_own_behaviour_is_one_sentence(told, tmp_path, text, sentence):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    (tmp_path / "needs.py").write_text("import not_there")
    odd = "from typing import NamedTuple\nclass O(NamedTuple):\n    a: object()\ndef f(own, seen, s: O): ...\n"
    (tmp_path / "odd.py").write_text(odd + "def g(own, seen, s: 'Nowhere'): ...")
    (said,) = told(with_behaviour(text))
    assert said.startswith("a.toml [vehicles 1, behaviours 1]: ")
    assert sentence in said


GOOD = tomllib.loads(
    TOP
    + "[core]\n[radio]\n[proximity]\n[bounds]\nhalf_width_m = 50\n[fidelity]\n"
    + CAR
    + 'limits = { accel_mps2 = 1 }\nstart = { x_m = 1 }\nbehaviours = [{ name = "stay_in_bounds" }, '
    + '{ name = "follow_path", waypoints = [[1, 2], { x_m = 3, y_m = 4 }] }, { name = "avoid", horizon_s = 1 }]'
)
WORDS = st.sampled_from(["name", "vid", "kind", "count", "start", "spread_m", "x_m", "waypoints", "corners_m", "leader", "f"])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def leaves(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))


PATHS = [path for path in leaves(GOOD) if path]


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PATHS), JUNK), min_size=1, max_size=3))
def test_junk_anywhere_in_a_scenario_is_a_config_error_at_most(changes):
    data = json.loads(json.dumps(GOOD))
    for path, junk in changes:
        place = data
        with contextlib.suppress(KeyError, IndexError, TypeError):  # an earlier change took the place away
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = junk
    try:
        found = from_dict(data)
    except ConfigError:
        return
    assert isinstance(found, Scenario)
    assert from_dict(found.as_dict()) == found


@given(JUNK)
def test_a_scenario_of_junk_is_a_config_error(junk):
    with pytest.raises(ConfigError):
        from_dict(junk)
