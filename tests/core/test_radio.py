"""Messages reach who is in range, after the delay, less what chance takes."""

import numpy as np
import pytest

from core.advise import snapshot
from core.radio import Radio
from core.settings import RadioSettings
from core.state import State
from tests.core.builders import states
from wire.messages import Introduction
from wire.words import EVERYONE, Kind

VIDS = list(range(101, 141))


@pytest.fixture
def world():
    """Forty vehicles in a row, 10 m apart."""
    state = State()
    for vid in VIDS:
        state.introduce(Introduction(vid, "", Kind.GROUND, 2.0, False, ()), 0)
    rows = states(*VIDS, x_m=10.0 * np.arange(len(VIDS)))
    state.update(rows, state.indices_of(rows["vid"]), np.zeros(len(rows), dtype=np.int64), 0.0)
    state.grade(0.0, (1.0, 2.0, 3.0))
    return state, snapshot(state, 0.0, 10.0)


def test_those_in_range_hear_it_and_the_speaker_does_not(world):
    radio = Radio(RadioSettings(range_m=25.0), 1)
    assert radio.say(101, EVERYONE, 0.0, "hello", *world) == (2, 0)
    assert [post.to_vid for post in radio.due(0.0)] == [102, 103]


def test_a_message_to_one_reaches_only_that_one_if_in_range(world):
    radio = Radio(RadioSettings(range_m=25.0), 1)
    assert radio.say(101, 103, 0.0, "you", *world) == (1, 0)
    assert radio.say(101, 110, 0.0, "too far", *world) == (0, 0)
    assert [post.to_vid for post in radio.due(0.0)] == [103]


def test_delay_holds_it_back_and_it_comes_once(world):
    radio = Radio(RadioSettings(range_m=15.0, delay_s=0.3), 1)
    radio.say(101, EVERYONE, 1.0, "later", *world)
    assert radio.due(1.2) == []
    assert [post.text for post in radio.due(1.3)] == ["later"]
    assert radio.due(9.0) == []


def test_loss_takes_about_its_share_the_same_every_time(world):
    def heard(seed: int) -> list[int]:
        radio = Radio(RadioSettings(range_m=1e6, loss=0.3), seed)
        return [radio.say(101, EVERYONE, 0.0, "x", *world)[0] for _ in range(50)]

    assert heard(1) == heard(1)
    assert heard(1) != heard(2)
    assert sum(heard(1)) == pytest.approx(0.7 * 50 * 39, rel=0.05)


def test_an_unknown_speaker_is_not_heard(world):
    assert Radio(RadioSettings(), 1).say(999, EVERYONE, 0.0, "ghost", *world) == (0, 0)
