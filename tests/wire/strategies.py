"""What can travel, for hypothesis: every message of the vehicle link, JSON, and anything that msgpack can say."""

import msgpack
from hypothesis import strategies as st

from wire.errors import CodecError
from wire.messages import Advisories, Beat, Hello, Introduction, Message, Order, RunOrder, States, Welcome
from wire.words import VID_MAX, Kind, RunState

counts = st.integers(0, 2**63 - 1)
reals = st.floats(-1e18, 1e18)
vids = st.integers(1, VID_MAX)
texts = st.text(st.characters(codec="utf-8"), max_size=30)
blobs = st.binary(max_size=200)

orders = st.builds(
    Order,
    number=counts,
    state=st.sampled_from(RunState),
    t_s=reals,
    rate=st.floats(0.0, 1e18, exclude_min=True),
    run_id=texts,
)
introductions = st.builds(
    Introduction,
    vid=vids,
    name=texts,
    kind=st.sampled_from(Kind),
    length_m=st.floats(0.0, 1000.0, exclude_min=True),
    live=st.booleans(),
    behaviours=st.lists(texts, max_size=4).map(tuple),
    follows=st.none() | vids,
    searches=st.none() | vids,
)

_head = {"sender": counts, "seq": counts, "t_sent_s": reals}
MESSAGES = {
    Hello: st.integers(1, 1_000_000).flatmap(
        lambda parts: st.builds(
            Hello,
            **_head,
            part=st.integers(0, parts - 1),
            parts=st.just(parts),
            order=orders,
            vehicles=st.lists(introductions, max_size=3).map(tuple),
        )
    ),
    Welcome: st.builds(
        Welcome, **_head, order=orders, part=st.integers(0, 1_000_000), refused=st.lists(vids, max_size=4).map(tuple)
    ),
    States: st.builds(States, **_head, order_number=counts, packed=blobs),
    Advisories: st.builds(Advisories, **_head, order=orders, packed=blobs),
    RunOrder: st.builds(RunOrder, **_head, order=orders),
    Message: st.builds(Message, **_head, from_vid=vids, to_vid=st.integers(0, VID_MAX), t_s=reals, text=texts),
    Beat: st.builds(Beat, **_head, order=orders, beat=counts),
}
messages = st.one_of(*MESSAGES.values())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

msgpack_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | texts
    | blobs
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=20))
    | st.builds(msgpack.Timestamp, st.integers(0, 2**34), st.integers(0, 10**9 - 1)),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(texts | blobs, inner, max_size=3),
    max_leaves=12,
)


@st.composite
def damaged(draw, packed):
    """Bytes with one byte changed, bytes cut off, or bytes appended or put in."""
    data = bytearray(draw(packed))
    at = draw(st.integers(0, max(len(data) - 1, 0)))
    how = draw(st.sampled_from(["change", "cut", "append", "insert"]))
    if how == "change" and data:
        data[at] ^= draw(st.integers(1, 255))
    elif how == "cut":
        del data[at:]
    elif how == "append":
        data += draw(st.binary(min_size=1, max_size=5))
    else:
        data[at:at] = draw(st.binary(min_size=1, max_size=5))
    return bytes(data)


def read_or_reason(read, data):
    """What `read` made of it and None, or None and the reason word of its CodecError."""
    try:
        return read(data), None
    except CodecError as err:
        return None, err.reason
