from wire.words import EVERYONE, NO_BEHAVIOUR, UNKNOWN_U8, VID_MAX, Advice, Condition, Kind, RunState


def test_the_numbers_on_the_wire_stay():
    assert {state.name: state.value for state in RunState} == {"READY": 1, "SET": 2, "GO": 3, "PAUSE": 4, "STOP": 5}
    assert {c.name: c.value for c in Condition} == {"FRESH": 0, "LATE": 1, "STALE": 2, "LOST": 3}
    assert {kind.name: kind.value for kind in Kind} == {
        "GROUND": 1,
        "FIXED_WING": 2,
        "MULTIROTOR": 3,
        "SURFACE": 4,
        "UNDERWATER": 5,
        "PEDESTRIAN": 6,
    }
    assert {advice.name: advice.value for advice in Advice} == {"AVOID": 1, "FOLLOW": 2, "TARGET": 3}
    assert (VID_MAX, EVERYONE, NO_BEHAVIOUR, UNKNOWN_U8) == (4_194_303, 0, 0, 255)


def test_kinds_have_no_gap():
    assert [kind.value for kind in Kind] == list(range(min(Kind), max(Kind) + 1))  # the codec checks only the ends
