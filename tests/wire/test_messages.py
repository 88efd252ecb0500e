from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from wire.messages import AnyMessage, Message

CLASSES = get_args(AnyMessage)


def test_kinds_are_the_numbers_of_the_document():
    assert {made.__name__: made.KIND for made in CLASSES} == {
        "Hello": 1,
        "Welcome": 2,
        "States": 3,
        "Advisories": 4,
        "RunOrder": 5,
        "Message": 6,
        "Beat": 7,
    }


@pytest.mark.parametrize("made", CLASSES)
def test_every_message_says_who_sent_it_and_when(made):
    assert [field.name for field in fields(made)][:3] == ["sender", "seq", "t_sent_s"]
    assert all(field.kw_only for field in fields(made))


def test_a_message_cannot_be_changed():
    message = Message(sender=1, seq=1, t_sent_s=0.0, from_vid=1, to_vid=2, t_s=0.0, text="here")
    with pytest.raises(FrozenInstanceError):
        message.text = "there"
