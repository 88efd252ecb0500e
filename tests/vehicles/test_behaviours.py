"""Each behaviour answers as its name says. The table is complete and tested."""

import importlib
import math
import pkgutil
from pathlib import Path

import pytest

import vehicles.behaviours
from tests.core.builders import advisory
from tests.vehicles.builders import ALONE, fleet, other, own, slot, spec
from vehicles.behaviours import BEHAVIOURS
from vehicles.behaviours.stay_in_bounds import is_inside
from vehicles.mind import Command, Seen
from vehicles.model import Body
from vehicles.vehicle import choose
from wire.rows import DETECTS
from wire.words import Kind, RunState

BOX = (-50.0, -50.0, 50.0, -50.0, 50.0, 50.0, -50.0, 50.0)


def ask(name: str, own_now, seen: Seen = ALONE, **settings) -> Command:
    s = slot(name, **settings)
    return s.decide(own_now, seen, s.settings)


def test_every_module_is_in_the_table_with_a_number_of_its_own():
    modules = {module.name for module in pkgutil.iter_modules(vehicles.behaviours.__path__)}
    assert modules == set(BEHAVIOURS)
    assert len({behaviour.number for behaviour in BEHAVIOURS.values()}) == len(BEHAVIOURS)
    text = Path(__file__).read_text()
    for name, behaviour in BEHAVIOURS.items():
        assert f'"{name}"' in text, f"{name} has no test"
        assert behaviour.decide is getattr(importlib.import_module(f"vehicles.behaviours.{name}"), name)


def test_priorities_are_those_of_figure_4():
    priorities = {name: behaviour.priority for name, behaviour in BEHAVIOURS.items()}
    assert priorities["search_and_report"] == 0
    assert priorities["wander"] == 1
    assert priorities["periodic_turn"] == priorities["periodic_pitch"] == 2
    assert priorities["stay_in_bounds"] == 4
    assert priorities["avoid"] == 10


def test_wander_goes_straight_on_at_cruise_speed():
    assert ask("wander", own(cruise_mps=7.0)) == Command(True, 0.0, 7.0, 0.0, 0.0, False)


def test_periodic_turn_turns_for_its_time_then_falls_silent_ten_percent_slower():
    turning = [ask("periodic_turn", own(t_s=k / 10), every_s=10.0, turn_s=3.0) for k in range(1000)]
    active = [command for command in turning if command.active]
    assert len(active) == pytest.approx(300, abs=30)
    assert all(command.speed_mps == 4.5 for command in active)
    assert min(c.steer_rad for c in active) < -0.1 < 0.1 < max(c.steer_rad for c in active)
    assert all(abs(c.steer_rad) <= 0.5 for c in active)


def test_periodic_turn_is_luck_of_the_vehicle_alone():
    first = [ask("periodic_turn", own(t_s=k / 10)) for k in range(300)]
    assert first == [ask("periodic_turn", own(t_s=k / 10)) for k in range(300)]
    assert first != [ask("periodic_turn", own(t_s=k / 10, vid=102)) for k in range(300)]
    assert first != [ask("periodic_turn", own(t_s=k / 10, seed=2)) for k in range(300)]


def test_periodic_pitch_speaks_only_for_those_that_climb():
    times = [k / 10 for k in range(600)]
    assert not any(ask("periodic_pitch", own(t_s=t)).active for t in times)
    pitches = [ask("periodic_pitch", own(t_s=t, climbs=True)).pitch_rad for t in times]
    assert max(map(abs, pitches)) > 0.05


def test_inside_is_told_for_any_simple_polygon():
    notched = (0.0, 0.0, 10.0, 0.0, 10.0, 10.0, 5.0, 2.0, 0.0, 10.0)
    assert is_inside(1.0, 1.0, notched)
    assert not is_inside(5.0, 5.0, notched)
    assert not is_inside(-1.0, 1.0, notched)


def test_stay_in_bounds_is_silent_inside_and_turns_home_outside():
    box = {"corners_m": BOX, "home_x_m": 0.0, "home_y_m": 0.0}
    assert not ask("stay_in_bounds", own(x_m=49.0), **box).active
    away = ask("stay_in_bounds", own(x_m=60.0, y_m=-1.0), **box)
    assert away.active
    assert abs(away.steer_rad) == own().steer_max_rad
    assert away.speed_mps == pytest.approx(5.5)


@pytest.mark.parametrize("kind", [Kind.GROUND, Kind.MULTIROTOR, Kind.PEDESTRIAN, Kind.SURFACE])
def test_a_vehicle_that_leaves_comes_home(kind):
    bounds = slot("stay_in_bounds", corners_m=BOX, home_x_m=0.0, home_y_m=0.0)
    one = fleet(spec(101, bounds, slot("wander"), kind=kind, start=Body(45.0, 30.0, 5.0, 0.3, 1.0), cruise_mps=4.0))
    outside = longest = 0
    for _ in range(1200):
        one.advance()
        row = one.rows(RunState.GO)[0]
        outside = outside + 1 if max(abs(row["x_m"]), abs(row["y_m"])) > 50.0 else 0
        longest = max(longest, outside)
    assert 0 < longest < 200


@pytest.mark.parametrize(("y_m", "side"), [(1.0, -1.0), (-1.0, 1.0), (0.0, -1.0)])
def test_avoid_turns_away_from_the_side_where_the_other_will_pass(y_m, side):
    ahead = other(20.0, y_m, vx_mps=-5.0)
    command = ask("avoid", own(), Seen(ahead, ALONE.leader, ALONE.target, math.inf))
    assert command.active
    assert command.steer_rad == side * own().steer_max_rad
    assert command.speed_mps == own().cruise_mps


@pytest.mark.parametrize("gone", [other(-15.0, 0.0, vx_mps=-5.0), other(20.0, 30.0, vx_mps=5.0), other(100.0, 0.0, vx_mps=-1.0)])
def test_avoid_is_silent_when_the_other_parts_passes_wide_or_is_late(gone):
    assert not ask("avoid", own(), Seen(gone, ALONE.leader, ALONE.target, math.inf)).active


def test_avoid_acts_when_near_even_while_parting_and_is_silent_alone():
    near = other(-3.0, 1.0, vx_mps=-5.0)
    assert ask("avoid", own(), Seen(near, ALONE.leader, ALONE.target, math.inf)).active
    assert not ask("avoid", own()).active


def test_two_aircraft_at_the_same_height_part_one_up_one_down():
    ahead = other(20.0, 0.0, vx_mps=-5.0)
    up = ask("avoid", own(climbs=True, vid=101), Seen(ahead, ALONE.leader, ALONE.target, math.inf))
    down = ask("avoid", own(climbs=True, vid=103), Seen(ahead, ALONE.leader, ALONE.target, math.inf))
    assert up.pitch_rad > 0.0 > down.pitch_rad


def test_search_and_report_signals_within_the_radius_and_never_commands():
    near, far = other(9.0, 0.0, vid=200), other(11.0, 0.0, vid=200)
    for target, found in ((near, True), (far, False), (near._replace(vid=201), False), (ALONE.target, False)):
        command = ask("search_and_report", own(), ALONE._replace(target=target), target=200, radius_m=10.0)
        assert (command.active, command.signal) == (False, found)


SQUARE = (0.0, 0.0, 0.0, 5.0, 100.0, 0.0, 0.0, 5.0, 100.0, 100.0, 0.0, 3.0, 0.0, 100.0, 0.0, 5.0)


def drive(beats: int, **path) -> list:
    one = fleet(spec(101, slot("follow_path", points=SQUARE, **path), start=Body(-10.0, 0.0, 0.0, 0.0, 0.0)))
    rows = []
    for _ in range(beats):
        one.advance()
        rows.append(one.rows(RunState.GO)[0])
    return rows


def test_follow_path_passes_every_waypoint_and_stops_at_the_last():
    rows = drive(1000)
    for i in range(0, len(SQUARE), 4):
        assert min(math.dist((row["x_m"], row["y_m"]), SQUARE[i : i + 2]) for row in rows) < 3.5
    assert rows[-1]["speed_mps"] == 0.0
    assert math.dist((rows[-1]["x_m"], rows[-1]["y_m"]), (0.0, 100.0)) < 4.0


def test_follow_path_keeps_the_speed_of_the_leg():
    rows = drive(1000)
    second = [row["speed_mps"] for row in rows if row["x_m"] > 95.0 and 40.0 < row["y_m"] < 80.0]
    assert second and all(speed == pytest.approx(3.0) for speed in second)


def test_follow_path_in_a_loop_comes_around_again():
    rows = drive(2000, loop=True)
    near_start = [k for k, row in enumerate(rows) if math.dist((row["x_m"], row["y_m"]), (0.0, 0.0)) < 4.0]
    assert near_start[-1] - near_start[0] > 500
    assert rows[-1]["speed_mps"] > 2.0


def test_follow_path_waits_for_a_report():
    assert drive(100, waits_for_report=True)[-1]["x_m"] == -10.0
    assert ask("follow_path", own(t_s=5.0), ALONE._replace(report_s=4.0), points=SQUARE, waits_for_report=True).speed_mps > 0.0


def test_a_multirotor_climbs_to_the_height_of_its_waypoint():
    points = (60.0, 0.0, 20.0, 5.0)
    one = fleet(spec(101, slot("follow_path", points=points), kind=Kind.MULTIROTOR))
    for _ in range(400):
        one.advance()
    assert one.rows(RunState.GO)[0]["z_m"] == pytest.approx(20.0, abs=1.0)


def test_follow_me_settles_at_the_gap_behind_a_steady_leader():
    one = fleet(spec(102, slot("follow_me", leader=101, gap_m=10.0, headway_s=0.5)))
    x_m = 40.0
    for k in range(900):
        x_m += 0.5
        one.advance(advisory(to=102, about=101, advice=2, x_m=x_m, vx_mps=5.0, t_s=k / 10))
    assert x_m - one.rows(RunState.GO)[0]["x_m"] == pytest.approx(12.5 - 0.5, abs=0.1)  # the leader's row is a beat old


def test_follow_me_waits_without_a_leader_and_stops_behind_one_that_stands():
    assert ask("follow_me", own(), leader=101).speed_mps == 0.0
    standing = ALONE._replace(leader=other(5.0, 0.0, vid=101))
    assert ask("follow_me", own(speed_mps=0.0), standing, leader=101).speed_mps == 0.0


def test_the_highest_priority_that_is_active_takes_all():
    slots = spec(101, slot("wander"), slot("avoid"), slot("periodic_turn")).slots
    assert [s.name for s in slots] == ["avoid", "periodic_turn", "wander"]
    quiet = choose(own(), ALONE, slots, [0.0] * 3)
    assert quiet.behaviour == BEHAVIOURS["wander"].number
    danger = ALONE._replace(threat=other(15.0, 0.0, vx_mps=-5.0))
    assert choose(own(), danger, slots, [0.0] * 3).behaviour == BEHAVIOURS["avoid"].number


def test_nobody_active_means_stand_still():
    one = fleet(spec(101, slot("avoid"), start=Body(0.0, 0.0, 0.0, 0.0, 2.0)))
    for _ in range(20):
        one.advance()
    assert one.rows(RunState.GO)[0]["speed_mps"] == 0.0


def test_a_found_target_is_flagged_and_told_once_per_contact():
    one = fleet(spec(101, slot("search_and_report", target=200, radius_m=10.0), slot("wander")))
    said = []
    for k in range(3):
        said += one.advance(advisory(to=101, about=200, advice=3, x_m=5.0, t_s=k / 10))
    assert [message.text for message in said] == ["found 200"]
    assert one.rows(RunState.GO)[0]["flags"] == DETECTS
