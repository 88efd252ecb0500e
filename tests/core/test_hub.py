"""Core takes what is good, refuses what is not, tells who must know."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.hub import Hub
from tests.core.builders import Sender, hub, states
from wire.codec import pack, unpack
from wire.errors import CommandError
from wire.messages import Advisories, Message, Order, RunOrder, States, Welcome
from wire.publish import Event, StateFrame
from wire.record import Happened, RowsCame, RunBegins, RunEnds
from wire.rows import ADVISORY, DETECTS, STATE
from wire.words import Condition, RunState


def sent(core: Hub, kind: type) -> list:
    return [m for _, data in core.take_outbox().datagrams if isinstance(m := unpack(data), kind)]


def going(*senders: Sender, **settings) -> Hub:
    """A Core in GO at clock 0 with these processes introduced."""
    core = hub(**({"countdown_s": 0.0} | settings))
    core.receive([sender.hello() for sender in senders], 0.0)
    core.command("set", 0.0)
    core.command("go", 0.0)
    core.take_outbox()
    return core


def look(core: Hub, now_s: float) -> list[Advisories]:
    core.tell(core.check(now_s, now_s), now_s)
    return sent(core, Advisories)


def test_hello_is_welcomed_at_the_address_it_came_from():
    core = hub()
    core.receive([Sender(1, 101, address=("10.0.0.1", 4000)).hello()], 0.0)
    out = core.take_outbox()
    assert [(to, type(unpack(data))) for to, data in out.datagrams] == [(("10.0.0.1", 4000), Welcome)]


def test_rows_of_introduced_vehicles_enter_state():
    car = Sender(1, 101)
    core = going(car)
    core.receive([car.states(states(101, x_m=5.0), 2)], 0.1)
    assert core.state.rows["x_m"].tolist() == [5.0]
    assert core.tally.refused.total() == 0


JUNK = {
    "empty": b"",
    "not msgpack": b"\xc1\xc1\xc1",
    "wrong shape": b"\x01",
    "random": bytes(range(64)),
    "other version": b"\x95\x63\x03\x01\x01\x00",
    "too long": b"\x00" * 70_000,
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK.keys())
def test_junk_is_counted_and_leaves_state_and_record_alone(junk):
    car = Sender(1, 101)
    core = going(car)
    core.receive([car.states(states(101, x_m=5.0), 2)], 0.1)
    before = core.state.rows.tobytes()
    core.take_outbox()
    core.receive([(junk, ("127.0.0.1", 9))], 0.2)
    assert core.tally.refused.total() == 1
    assert core.state.rows.tobytes() == before
    assert core.take_outbox().entries == []


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_no_bytes_end_core(datagrams):
    core = hub()
    core.receive([(data, ("127.0.0.1", 9)) for data in datagrams], 0.0)
    assert core.tally.refused.total() == len(datagrams)


BAD_ROWS = {
    "not finite": {"x_m": math.nan},
    "far off": {"x_m": 1.0e6},
    "out of range": {"run_state": 9},
}


@pytest.mark.parametrize(("reason", "field"), BAD_ROWS.items())
def test_a_bad_row_is_refused_by_reason_and_its_good_neighbour_kept(reason, field):
    fleet = Sender(1, 101, 102)
    core = going(fleet)
    rows = states(101, 102, y_m=7.0)
    for name, value in field.items():
        rows[0][name] = value
    core.receive([fleet.states(rows, 2)], 0.1)
    assert core.tally.refused == {reason: 1}
    assert core.state.reported.tolist() == [False, True]
    recorded = [entry for entry in core.take_outbox().entries if isinstance(entry, RowsCame)]
    assert [np.frombuffer(entry.packed, STATE)["vid"].tolist() for entry in recorded] == [[102]]


def test_infinity_in_any_float_never_enters_state():
    car = Sender(1, 101)
    core = going(car)
    for name in STATE.names:
        if STATE[name].kind == "f":
            core.receive([car.states(states(101, **{name: math.inf}), 2)], 0.1)
    assert not core.state.reported.any()


def test_a_cut_row_is_refused():
    car = Sender(1, 101)
    core = going(car)
    core.receive([car._pack(States, order_number=2, packed=b"\x00" * 95)], 0.1)
    assert core.tally.refused == {"cut row": 1}


def test_rows_from_nobody_we_know_are_refused():
    core = going(Sender(1, 101))
    core.receive([Sender(2, 102).states(states(102), 2)], 0.1)
    assert core.tally.refused == {"not introduced": 1}


def test_a_vid_of_another_live_sender_is_refused_in_hello_rows_and_messages():
    mine, thief = Sender(1, 101), Sender(2, 101)
    core = going(mine)
    core.receive([mine.states(states(101, x_m=1.0), 2)], 0.1)
    core.check(0.1, 0.1)
    core.receive([thief.hello()], 0.2)
    assert sent(core, Welcome)[0].refused == (101,)
    core.receive([thief.states(states(101, x_m=99.0), 2)], 0.3)
    lie, _ = thief._pack(Message, from_vid=101, to_vid=0, t_s=0.0, text="I am 101")
    core.receive([(lie, thief.address)], 0.3)
    assert core.state.rows["x_m"].tolist() == [1.0]
    assert core.tally.refused == {"vid of another sender": 3}


def test_a_restarted_process_takes_its_vehicle_back_once_the_old_one_is_stale():
    old, new = Sender(1, 101), Sender(2, 101)
    core = going(old)
    core.receive([old.states(states(101, t_s=0.1, x_m=1.0), 2)], 0.1)
    core.check(5.0, 5.0)
    core.receive([new.hello()], 5.0)
    assert sent(core, Welcome)[-1].refused == ()
    core.receive([new.states(states(101, t_s=0.0, x_m=2.0), 2)], 5.1)
    assert core.state.rows["x_m"].tolist() == [2.0]


def test_a_silent_vehicle_is_late_then_stale_then_lost_and_said_so():
    car = Sender(1, 101)
    core = going(car)
    core.receive([car.states(states(101), 2)], 0.0)
    seen = []
    for now_s in (0.1, 1.0, 3.0, 11.0):
        core.check(now_s, now_s)
        seen.append(Condition(int(core.state.condition[0])))
    assert seen == [Condition.FRESH, Condition.LATE, Condition.STALE, Condition.LOST]
    said = [item.what for item in core.take_outbox().published if isinstance(item, Event)]
    assert said == ["joined", "stale", "lost"]


def test_both_of_a_pair_are_warned_and_cleared_when_they_part():
    one, two = Sender(1, 101), Sender(2, 102, address=("127.0.0.1", 5002))
    core = going(one, two, avoid_lengths=8.0)
    core.receive(
        [one.states(states(101, t_s=0.1, vx_mps=5.0), 2), two.states(states(102, t_s=0.1, x_m=10.0, vx_mps=-5.0), 2)], 0.1
    )
    told = look(core, 0.1)
    rows = [np.frombuffer(m.packed, ADVISORY)[0] for m in told]
    assert [(row["to_vid"], row["about_vid"]) for row in rows] == [(101, 102), (102, 101)]
    assert [row["distance_m"] for row in rows] == [10.0, 10.0]
    assert [row["approach_s"] for row in rows] == [1.0, 1.0]
    core.receive([one.states(states(101, t_s=0.2, x_m=-500.0), 2), two.states(states(102, t_s=0.2, x_m=500.0), 2)], 0.2)
    assert [m.packed for m in look(core, 0.2)] == [b"", b""]
    assert look(core, 0.3) == []


def test_a_stale_vehicle_is_avoided_where_it_would_be_by_now():
    one, two = Sender(1, 101), Sender(2, 102, address=("127.0.0.1", 5002))
    core = going(one, two, avoid_lengths=8.0)
    core.receive([two.states(states(102, t_s=0.0, x_m=100.0, vx_mps=-10.0), 2)], 0.0)
    core.receive([one.states(states(101, t_s=9.0), 2)], 9.0)
    told = look(core, 9.0)
    assert np.frombuffer(told[0].packed, ADVISORY)[0]["x_m"] == pytest.approx(10.0)


def test_warnings_beyond_the_limit_per_vehicle_are_the_farther_ones_and_counted():
    swarm = Sender(1, *range(101, 112))
    core = going(swarm, max_per_vehicle=2)
    core.receive([swarm.states(states(*range(101, 112), t_s=0.1, x_m=np.arange(11.0)), 2)], 0.1)
    rows = core.check(0.1, 0.1).advisories
    assert {vid: (rows["to_vid"] == vid).sum() for vid in range(101, 112)} == dict.fromkeys(range(101, 112), 2)
    assert sorted(rows["about_vid"][rows["to_vid"] == 106].tolist()) == [105, 107]
    assert core.tally.held_back > 0


def test_followers_and_searchers_get_the_position_they_asked_for():
    leader, follower = Sender(1, 101), Sender(2, 102, address=("127.0.0.1", 5002), follows=101, searches=101)
    core = going(leader, follower)
    core.receive([leader.states(states(101, t_s=0.1, x_m=500.0), 2), follower.states(states(102, t_s=0.1), 2)], 0.1)
    rows = core.check(0.1, 0.1).advisories
    assert [(r["to_vid"], r["about_vid"], r["advice"], r["x_m"]) for r in rows] == [(102, 101, 2, 500.0), (102, 101, 3, 500.0)]


def test_an_order_is_repeated_until_it_is_echoed():
    car = Sender(1, 101)
    core = hub()
    core.receive([car.hello(), car.states(states(101, run_state=RunState.READY), 0)], 0.0)
    core.command("set", 0.0)
    assert [m.order.state for m in sent(core, RunOrder)] == [RunState.SET]
    core.tell(core.check(0.1, 0.0), 0.1)
    assert sent(core, RunOrder) == []
    core.tell(core.check(0.3, 0.0), 0.3)
    assert len(sent(core, RunOrder)) == 1
    core.receive([car.states(states(101, run_state=RunState.SET), 1)], 0.4)
    core.tell(core.check(0.6, 0.0), 0.6)
    assert sent(core, RunOrder) == []


def test_an_illegal_or_unknown_command_is_refused_in_a_sentence():
    core = hub()
    with pytest.raises(CommandError, match="cannot change from READY to GO: GO follows SET or PAUSE"):
        core.command("go", 0.0)
    with pytest.raises(CommandError, match="unknown command 'fly'"):
        core.command("fly", 0.0)
    with pytest.raises(CommandError, match="a note needs a text"):
        core.command("note", 0.0, "  ")


def test_a_run_is_recorded_from_set_to_stop():
    car = Sender(1, 101)
    core = hub(countdown_s=0.0, head={"name": "test"})
    core.receive([car.hello(), car.states(states(101, run_state=RunState.READY), 0)], 0.0)
    core.command("set", 0.0)
    core.receive([car.states(states(101, run_state=RunState.SET), 1)], 0.1)
    core.command("go", 0.2)
    core.command("note", 0.3, "a dog on the track")
    core.command("stop", 0.4)
    entries = core.take_outbox().entries
    assert [type(entry) for entry in entries] == [RunBegins, Happened, RowsCame, Happened, Happened, RunEnds, Happened]
    assert {entry.run_id for entry in entries} == {"run 1"}
    assert entries[0].head["name"] == "test"
    assert entries[5].summary["rows"] == 1


def test_missing_sequence_numbers_are_lost_and_come_back_when_they_turn_up():
    car = Sender(1, 101)
    core = going(car)
    late = car.states(states(101, t_s=0.1), 2)
    core.receive([car.states(states(101, t_s=0.2), 2)], 0.2)
    assert core.tally.lost == 1
    core.receive([late], 0.3)
    assert (core.tally.lost, core.tally.late_rows) == (0, 1)
    assert core.state.rows["t_s"].tolist() == [0.2]


def test_a_row_of_an_earlier_run_does_not_enter_the_new_one():
    car = Sender(1, 101)
    core = going(car)
    core.command("pause", 1.0)
    core.command("set", 1.0)
    core.receive([car.states(states(101, run_state=RunState.SET), 4)], 1.1)
    core.take_outbox()
    core.receive([car.states(states(101, t_s=1.0), 2)], 1.2)
    assert core.take_outbox().entries == []
    assert core.state.rows["t_s"].tolist() == [0.0]


def test_a_detection_is_told_once_per_contact():
    car = Sender(1, 101, searches=200)
    core = going(car)
    for k in range(3):
        core.receive([car.states(states(101, t_s=k / 10, flags=DETECTS), 2)], k / 10)
        core.check(k / 10, k / 10)
    found = [entry for entry in core.take_outbox().entries if isinstance(entry, Happened) and entry.what == "detection"]
    assert [(entry.detail["vid"], entry.detail["target"]) for entry in found] == [(101, 200)]


def test_a_restarted_core_takes_over_the_run_of_the_vehicles():
    car = Sender(1, 101)
    core = hub()
    core.receive([car.hello(Order(4, RunState.GO, 0.0, 1.0, "their run"))], 50.0)
    core.receive([car.states(states(101, t_s=30.0), 4)], 50.1)
    assert (core.run.state, core.run.run_id) == (RunState.GO, "their run")
    assert core.run.t_s(50.1) == pytest.approx(30.0)
    assert any(isinstance(entry, RowsCame) for entry in core.take_outbox().entries)


def test_stop_is_over_when_all_have_echoed_it_or_time_is_up():
    car = Sender(1, 101)
    core = going(car)
    core.receive([car.states(states(101), 2)], 0.1)
    core.command("stop", 1.0)
    assert not core.is_over(1.5)
    assert core.is_over(5.0)
    core.receive([car.states(states(101, run_state=RunState.STOP), 3)], 1.6)
    assert core.is_over(1.6)


def test_state_is_published_with_conditions_and_counters():
    car = Sender(1, 101)
    core = going(car)
    core.receive([car.states(states(101, x_m=3.0, t_s=0.1), 2)], 0.1)
    findings = core.check(0.1, 0.1)
    core.publish(findings.advisories, 0.1, 0.1)
    frame = next(item for item in core.take_outbox().published if isinstance(item, StateFrame))
    assert (frame.rows["x_m"].tolist(), frame.conditions.tolist(), frame.head["run_state"]) == ([3.0], [0], "GO")


def test_the_closest_approach_names_the_pair_and_the_time():
    pair = Sender(1, 101, 102)
    core = going(pair)
    for k, gap_m in enumerate((30.0, 4.0, 9.0)):
        core.receive([pair.states(states(101, 102, t_s=k / 10, x_m=[0.0, gap_m]), 2)], k / 10)
        core.check(k / 10, k / 10)
    assert (core.tally.closest_m, core.tally.closest_t_s, core.tally.closest_vids) == (4.0, 0.1, (101, 102))


def test_core_does_not_accept_its_own_kind_of_message():
    core = hub()
    order = Order(1, RunState.SET, 0.0, 1.0, "x")
    core.receive([(pack(RunOrder(sender=3, seq=1, t_sent_s=0.0, order=order)), ("127.0.0.1", 1))], 0.0)
    assert core.tally.refused == {"wrong direction": 1}


def test_a_flood_of_new_senders_is_bounded():
    core = hub()
    core.receive([Sender(n, 101).hello() for n in range(1, 5000)], 0.0)
    assert len(core.peers.all) == 4096
    assert core.tally.refused["too many senders"] == 4999 - 4096


def test_who_reports_without_a_hello_hears_from_this_core():
    core = hub()
    core.receive([Sender(2, 102, address=("127.0.0.1", 7)).states(states(102), 2)], 0.1)
    core.tell(core.check(0.1, 0.0), 0.1)
    assert [(to, type(unpack(data))) for to, data in core.take_outbox().datagrams] == [(("127.0.0.1", 7), RunOrder)]
    core.tell(core.check(0.2, 0.0), 0.2)
    assert core.take_outbox().datagrams == []
