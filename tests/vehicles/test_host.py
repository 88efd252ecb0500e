"""A vehicle process obeys Core, reports what it should, and shrugs off junk. No socket, a counted clock."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.builders import advisory
from tests.vehicles.builders import fleet, slot, spec
from vehicles.host import Host
from vehicles.model import Body
from wire.codec import pack, unpack
from wire.messages import Advisories, Beat, Hello, Message, Order, RunOrder, States, Welcome
from wire.rows import STATE
from wire.words import RunState


class Bench:
    """A host with Core's side in the test's hands."""

    def __init__(self, *specs: Any, datagram_bytes: int = 1200) -> None:
        self.now_s = 100.0
        self.host = Host(
            fleet(*(specs or (spec(),))),
            sender=7,
            datagram_bytes=datagram_bytes,
            clock=lambda: self.now_s,
            unix=lambda: self.now_s,
        )
        self.seq = 0

    def core(self, kind: Any, *, sender: int = 9, **body: Any) -> None:
        self.seq += 1
        self.host.receive(pack(kind(sender=sender, seq=self.seq, t_sent_s=0.0, **body)))

    def order(self, number: int, state: RunState, t_s: float = 0.0, rate: float = 1.0) -> None:
        self.core(RunOrder, order=Order(number, state, t_s, rate, "run"))

    def until(self, end_s: float) -> list[Any]:
        """Let time pass, calling when the host wants to be called; everything it sent."""
        out = []
        while self.now_s < end_s:
            out += [unpack(data) for data in self.host.tick()]
            self.now_s = min(end_s, max(self.host.due_s, self.now_s + 1e-4))
        return out

    def rows(self, end_s: float) -> np.ndarray:
        packed = b"".join(m.packed for m in self.until(end_s) if isinstance(m, States))
        return np.frombuffer(packed, STATE)


def test_it_introduces_itself_until_it_is_welcomed():
    bench = Bench()
    assert sum(isinstance(m, Hello) for m in bench.until(102.0)) == 4
    bench.core(Welcome, order=Order(0, RunState.READY, 0.0, 1.0, ""), part=0, refused=())
    assert not any(isinstance(m, Hello) for m in bench.until(104.0))


def test_a_big_fleet_introduces_itself_in_parts_that_fit():
    bench = Bench(*(spec(vid) for vid in range(101, 301)))
    parts = [data for data in bench.host.tick() if isinstance(unpack(data), Hello)]
    assert len(parts) > 5
    assert max(map(len, parts)) <= 1200
    assert sorted(v.vid for data in parts for v in unpack(data).vehicles) == list(range(101, 301))


def test_it_reports_once_a_second_in_ready_and_every_beat_from_set_on():
    bench = Bench()
    assert len(bench.rows(105.0)) == 5
    bench.order(1, RunState.SET)
    assert len(bench.rows(107.0)) == pytest.approx(20, abs=1)


def test_go_starts_at_the_countdowns_end_and_keeps_time():
    bench = Bench()
    bench.order(1, RunState.SET)
    bench.rows(101.0)
    bench.order(2, RunState.GO, t_s=-0.5)
    rows = bench.rows(103.55)
    assert rows[0]["t_s"] == 0.0
    assert rows[-1]["t_s"] == pytest.approx(2.0)
    assert np.allclose(np.diff(rows["t_s"]), 0.1)
    assert rows[-1]["x_m"] > 1.0


def test_the_rate_makes_time_pass_faster():
    bench = Bench()
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO, t_s=0.0, rate=4.0)
    assert bench.rows(102.01)[-1]["t_s"] == pytest.approx(8.0, abs=0.11)


def test_pause_holds_everybody_at_the_same_beat_and_go_goes_on():
    bench = Bench()
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    bench.rows(102.05)
    bench.order(3, RunState.PAUSE, t_s=2.2)
    held = bench.rows(104.0)
    assert held[-1]["t_s"] == pytest.approx(2.2)
    assert held[-1]["speed_mps"] == 0.0
    assert len({row["x_m"] for row in held[-10:]}) == 1
    bench.order(4, RunState.GO, t_s=2.2)
    assert bench.rows(105.01)[-1]["t_s"] == pytest.approx(3.2, abs=0.11)


def test_set_after_pause_goes_back_to_the_start():
    bench = Bench(spec(start=Body(3.0, 4.0, 0.0, 0.0, 0.0)))
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    bench.rows(103.0)
    bench.order(3, RunState.PAUSE, t_s=3.0)
    bench.order(4, RunState.SET)
    row = bench.rows(103.5)[-1]
    assert (row["t_s"], row["x_m"], row["y_m"]) == (0.0, 3.0, 4.0)


def test_an_older_order_is_ignored_and_the_echo_says_the_newest():
    bench = Bench()
    bench.order(5, RunState.SET)
    bench.order(4, RunState.STOP)
    sent = [m for m in bench.until(100.3) if isinstance(m, States)]
    assert {m.order_number for m in sent} == {5}
    assert not bench.host.finished


def test_stop_ends_it_with_a_last_word_said_more_than_once():
    bench = Bench()
    bench.order(1, RunState.STOP)
    last = [m for m in bench.until(100.01) if isinstance(m, States)]
    assert bench.host.finished
    assert len(last) >= 3
    assert np.frombuffer(last[-1].packed, STATE)[0]["run_state"] == RunState.STOP


def test_who_joins_late_takes_the_time_of_the_run():
    bench = Bench()
    bench.order(2, RunState.GO, t_s=30.04)
    assert bench.rows(100.1)[0]["t_s"] == pytest.approx(30.0)


def near(x_m: float) -> bytes:
    return advisory(to=101, about=102, x_m=x_m, y_m=0.5, vx_mps=-5.0, length_m=2.7, distance_m=x_m, approach_s=1.0).tobytes()


def avoiding(rows: np.ndarray) -> int:
    return int((rows["behaviour"] == 5).sum())


def test_advisories_hold_until_cleared_or_half_a_second_of_silence():
    bench = Bench(spec(101, slot("avoid"), slot("wander")))
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    order = Order(2, RunState.GO, 0.0, 1.0, "run")
    bench.rows(100.05)
    bench.core(Advisories, order=order, packed=near(15.0))
    assert avoiding(bench.rows(100.35)) >= 2
    bench.core(Advisories, order=order._replace(t_s=0.4), packed=b"")
    assert avoiding(bench.rows(100.95)) == 0
    bench.core(Advisories, order=order._replace(t_s=1.0), packed=near(15.0))
    assert 4 <= avoiding(bench.rows(103.0)) <= 6


def test_advisories_of_one_beat_in_several_datagrams_add_up():
    bench = Bench(spec(101, slot("avoid"), slot("wander")), spec(103, slot("avoid"), slot("wander")))
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    bench.rows(100.05)
    order = Order(2, RunState.GO, 0.0, 1.0, "run")
    bench.core(Advisories, order=order, packed=near(15.0))
    other = advisory(to=103, about=102, x_m=15.0, y_m=0.5, vx_mps=-5.0, length_m=2.7, distance_m=15.0).tobytes()
    bench.core(Advisories, order=order, packed=other)
    rows = bench.rows(100.15)
    assert set(rows["vid"][rows["behaviour"] == 5].tolist()) == {101, 103}


def test_a_heard_report_sets_a_waiting_vehicle_going():
    path = slot("follow_path", points=(50.0, 0.0, 0.0, 5.0), waits_for_report=True)
    bench = Bench(spec(101, path))
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    assert bench.rows(102.0)[-1]["x_m"] == 0.0
    bench.core(Message, from_vid=200, to_vid=101, t_s=1.9, text="found 300")
    assert bench.rows(104.0)[-1]["x_m"] > 1.0


def test_another_core_is_greeted_again():
    bench = Bench()
    bench.core(Welcome, order=Order(0, RunState.READY, 0.0, 1.0, ""), part=0, refused=())
    bench.until(101.0)
    bench.core(RunOrder, sender=10, order=Order(0, RunState.READY, 0.0, 1.0, ""))
    assert any(isinstance(m, Hello) for m in bench.until(101.6))


def test_without_a_word_from_core_it_moves_on_and_calls_again():
    bench = Bench()
    bench.core(Welcome, order=Order(0, RunState.READY, 0.0, 1.0, ""), part=0, refused=())
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    sent = bench.until(105.0)
    assert any(isinstance(m, Hello) for m in sent)
    assert np.frombuffer([m for m in sent if isinstance(m, States)][-1].packed, STATE)[0]["t_s"] > 4.8


@given(st.binary(max_size=120))
def test_junk_from_core_is_counted_and_harmless(junk):
    bench = Bench()
    bench.host.receive(junk)
    assert bench.host.refused == 1
    assert bench.host.order.number == 0


def test_lockstep_advances_once_per_beat_however_often_it_is_told():
    bench = Bench()
    bench.order(1, RunState.SET)
    bench.order(2, RunState.GO)
    order = Order(2, RunState.GO, 0.0, 1.0, "run")
    times = []
    for beat in (0, 1, 1, 2):
        bench.core(Beat, order=order, beat=beat)
        times.append(np.frombuffer(unpack(bench.host.beat(beat)[-1]).packed, STATE)[0]["t_s"])
    assert times == [0.0, 0.1, 0.1, 0.2]
