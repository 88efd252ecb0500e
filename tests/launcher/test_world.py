"""What the scenarios are meant to show, in the in-process world."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from launcher.parts import core_settings
from launcher.scenario import Overrides, load
from launcher.world import World
from wire.record import AdvisoriesWent, Entry, Happened, RowsCame
from wire.rows import ADVISORY, STATE
from wire.words import RunState

CONFIGS = Path(__file__).parents[2] / "configs"


class Played:
    """A scenario run in process, its rows by vehicle."""

    def __init__(self, name: str, seed: int | None = None, duration_s: float | None = None) -> None:
        self.scenario = load(CONFIGS / f"{name}.toml", Overrides(seed=seed, duration_s=duration_s))
        self.entries: list[Entry] = []
        world = World(
            core_settings(self.scenario, mode="fast"),
            self.scenario.specs(),
            step_s=self.scenario.step_s,
            frame=self.scenario.frame,
            run_id="test",
            started_unix_s=0.0,
            keep=self.entries.extend,
        )
        for _ in world.run(self.scenario.duration_s):
            pass
        self.summary = world.summary()
        rows = np.concatenate([np.frombuffer(entry.packed, STATE) for entry in self.entries if isinstance(entry, RowsCame)])
        self.rows = rows[rows["run_state"] == RunState.GO]

    def track(self, vid: int) -> Any:
        return self.rows[self.rows["vid"] == vid]

    def place(self, vid: int) -> Any:
        track = self.track(vid)
        return np.stack([track["x_m"], track["y_m"], track["z_m"]], axis=1)

    def distance_m(self, one: int, other: int) -> Any:
        return np.linalg.norm(self.place(one) - self.place(other), axis=1)

    def events(self, what: str) -> list[Happened]:
        return [entry for entry in self.entries if isinstance(entry, Happened) and entry.what == what]


def longest_outside_s(place: Any, half_m: float) -> float:
    outside = np.abs(place[:, :2]).max(axis=1) > half_m
    longest = now = 0
    for out in outside:
        now = now + 1 if out else 0
        longest = max(longest, now)
    return longest / 10.0


@pytest.mark.parametrize("seed", range(20))
def test_three_vehicles_avoid_each_other_and_come_back_inside(seed):
    played = Played("three_vehicles", seed)
    vids = (101, 102, 103)
    lengths = {spec.vid: spec.limits.length_m for spec in played.scenario.specs()}
    for i, one in enumerate(vids):
        for other in vids[i + 1 :]:
            collision_m = (lengths[one] + lengths[other]) / 2.0
            assert played.distance_m(one, other)[150:].min() > collision_m
        assert longest_outside_s(played.place(one), 50.0) < 20.0
    assert played.summary["advisories"] > 0


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not():
    assert Played("three_vehicles", 4).rows.tobytes() == Played("three_vehicles", 4).rows.tobytes()
    assert Played("three_vehicles", 4).rows.tobytes() != Played("three_vehicles", 5).rows.tobytes()


def test_the_summary_equals_what_the_rows_say():
    played = Played("three_vehicles", 7)
    nearest = min(played.distance_m(*pair).min() for pair in ((101, 102), (101, 103), (102, 103)))
    assert played.summary["closest_m"] == pytest.approx(nearest, rel=1e-12)
    sent = sum(len(entry.packed) // ADVISORY.itemsize for entry in played.entries if isinstance(entry, AdvisoriesWent))
    assert played.summary["advisories"] == sent


def test_sixteen_vehicles_move_keep_apart_and_stay_about_the_field():
    played = Played("sixteen_vehicles")
    assert len(played.scenario.specs()) == 16
    assert len(played.scenario.processes()) == 16
    for spec in played.scenario.specs():
        path_m = np.linalg.norm(np.diff(played.place(spec.vid), axis=0), axis=1).sum()
        assert path_m > 300.0
        assert longest_outside_s(played.place(spec.vid), 150.0) < 20.0
    assert played.summary["closest_m"] > 2.7


def test_the_drone_reports_the_person_without_steering_by_it_and_the_medic_goes_there():
    played = Played("search")
    found = played.events("detection")
    assert [(event.detail["vid"], event.detail["target"]) for event in found][:1] == [(100, 102)]
    t_s = found[0].t_s
    assert played.distance_m(100, 102)[round(t_s * 10)] <= 26.0
    assert played.distance_m(100, 102)[: round(t_s * 10) - 1].min() > 26.0
    medic = played.place(101)
    heard = round((t_s + 0.5) * 10)
    assert np.ptp(medic[: heard - 1, 0]) == 0.0
    assert played.distance_m(101, 102)[-1] < 8.0
    assert "found 102" in [event.detail["text"] for event in played.events("message")]
    alone = load(CONFIGS / "search.toml")
    drone = next(spec for spec in alone.specs() if spec.vid == 100)
    flown = played.place(100)
    for i in range(0, len(drone.slots[0].settings.points), 4):
        x_m, y_m = drone.slots[0].settings.points[i : i + 2]
        assert np.hypot(flown[:, 0] - x_m, flown[:, 1] - y_m).min() < 4.0


def test_the_accordion_is_visible_behind_the_leader():
    played = Played("follow")
    gaps = [played.distance_m(vid, vid + 1) for vid in (1, 2, 3)]
    for gap in gaps:
        assert gap.min() > 2.7
        assert np.ptp(gap[300:]) > 4.0
    slowed = [played.track(vid)["t_s"][200 + np.argmin(played.track(vid)["speed_mps"][200:400])] for vid in (1, 2, 3, 4)]
    assert slowed == sorted(slowed)
    assert slowed[3] > slowed[0]


def test_every_domain_keeps_to_its_own():
    played = Played("mixed_domains")
    z_m = {spec.vid: played.place(spec.vid)[:, 2] for spec in played.scenario.specs()}
    assert np.ptp(z_m[10]) == np.ptp(z_m[40]) == np.ptp(z_m[60]) == 0.0
    assert z_m[20].min() >= 0.0
    assert np.ptp(z_m[20]) > 1.0
    assert z_m[30].min() > 0.0
    assert z_m[50].max() <= 0.0
    assert played.track(30)["speed_mps"].min() >= 10.0
    for spec in played.scenario.specs():
        assert np.linalg.norm(np.diff(played.place(spec.vid), axis=0), axis=1).sum() > 50.0
    assert played.scenario.fidelity().pedestrians == 1


def test_a_fleet_of_any_size_moves_like_its_vehicles_alone(tmp_path):
    text = (CONFIGS / "sixteen_vehicles.toml").read_text().replace("count = 16", "count = 80").replace("120.0, gap", "200.0, gap")
    path = tmp_path / "eighty.toml"
    path.write_text(text)
    scenario = load(path, Overrides(duration_s=10.0))

    def rows(compile_from: int) -> bytes:
        entries: list[Entry] = []
        world = World(
            core_settings(scenario, mode="fast"),
            scenario.specs(),
            step_s=scenario.step_s,
            frame=scenario.frame,
            run_id="test",
            started_unix_s=0.0,
            keep=entries.extend,
            compile_from=compile_from,
        )
        for _ in world.run(10.0):
            pass
        return b"".join(entry.packed for entry in entries if isinstance(entry, RowsCame))

    assert rows(1) == rows(1000)
