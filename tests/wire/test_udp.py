import select
import socket

import pytest

from wire.errors import LinkError
from wire.udp import UdpSocket, is_loopback, resolve

HERE = "127.0.0.1"


def receive(udp, count):
    """Drain until so many have come; one second of silence ends it."""
    got = []
    while len(got) < count and select.select([udp], [], [], 1.0)[0]:
        got += udp.drain(1000)
    return got


def test_everything_arrives_in_order_and_says_from_where():
    sent = [index.to_bytes(4, "little") * (1 + index % 7) for index in range(200)]
    with UdpSocket((HERE, 0)) as core, UdpSocket((HERE, 0)) as vehicle:
        for data in sent:
            vehicle.send(data, (HERE, core.port))
        got = receive(core, len(sent))
        assert [data for data, _ in got] == sent
        assert {address for _, address in got} == {(HERE, vehicle.port)}
        assert core.drain(1000) == []
        assert vehicle.unsent == 0


@pytest.mark.parametrize("size", [0, 1, 1_200, 1_500, 9_000, 65_000, 65_507])
def test_a_datagram_of_any_size_arrives_whole(size):
    with UdpSocket((HERE, 0)) as core, UdpSocket() as vehicle:
        vehicle.send(bytes(size), (HERE, core.port))
        assert [data for data, _ in receive(core, 1)] == [bytes(size)]


def test_an_answer_reaches_the_address_it_came_from():
    with UdpSocket((HERE, 0)) as core, UdpSocket() as vehicle:
        vehicle.send(b"hello", (HERE, core.port))
        [(_, address)] = receive(core, 1)
        core.send(b"welcome", address)
        assert receive(vehicle, 1) == [(b"welcome", (HERE, core.port))]


def test_drain_takes_no_more_than_asked_and_leaves_the_rest():
    with UdpSocket((HERE, 0)) as core, UdpSocket() as vehicle:
        for index in range(5):
            vehicle.send(bytes([index]), (HERE, core.port))
        select.select([core], [], [], 1.0)
        assert [data for data, _ in core.drain(3)] == [b"\x00", b"\x01", b"\x02"]
        assert [data for data, _ in core.drain(3)] == [b"\x03", b"\x04"]


def test_drain_of_nothing_does_not_block():
    with UdpSocket((HERE, 0)) as core:
        assert core.drain(10) == []


def test_a_port_in_use_is_a_link_error_of_one_sentence():
    with UdpSocket((HERE, 0)) as first:
        with pytest.raises(LinkError) as caught:
            UdpSocket((HERE, first.port))
        assert str(caught.value) == (
            f"cannot listen on UDP {HERE}:{first.port}: the port is in use; stop the other program or choose another port"
        )


@pytest.mark.parametrize("bind", [(HERE, 70_000), (HERE, -1), ("192.0.2.1", 0), ("no-such-host.invalid", 0), ("ä" * 70, 0)])
def test_an_address_that_cannot_be_bound_is_a_link_error(bind):
    with pytest.raises(LinkError, match="cannot listen on UDP"):
        UdpSocket(bind)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "", "a..b", "x" * 70, "two words", "nul\0"])
def test_a_host_that_does_not_resolve_is_a_link_error_of_one_sentence(host):
    with pytest.raises(LinkError, match="check its name or give its IP address") as caught:
        resolve(host, 6000)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("port", [-1, 65_536, 70_000])
def test_a_port_that_cannot_be_is_a_link_error(port):
    with pytest.raises(LinkError, match="a port is 0 to 65535"):
        resolve(HERE, port)


def test_a_name_resolves_to_an_address():
    assert resolve("localhost", 6000) == (HERE, 6000)
    assert resolve("127.0.0.2", 65_535) == ("127.0.0.2", 65_535)


def test_a_closed_port_costs_one_datagram_and_nothing_more():
    with UdpSocket((HERE, 0)) as gone:
        closed = gone.port
    with UdpSocket((HERE, 0)) as vehicle, UdpSocket() as core:
        for _ in range(3):
            vehicle.send(b"anyone?", (HERE, closed))
            assert vehicle.drain(10) == []
        core.send(b"here", (HERE, vehicle.port))
        assert [data for data, _ in receive(vehicle, 1)] == [b"here"]


class Unwell:
    """A socket that reports an earlier send's failure, as Windows does, before it gives what has arrived."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def recvfrom(self, _size):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_late_complaint_of_the_system_hides_no_datagram():
    with UdpSocket() as vehicle:
        real = vehicle._socket
        vehicle._socket = Unwell((b"a", (HERE, 1)), ConnectionRefusedError(), (b"b", (HERE, 1)), BlockingIOError())
        assert vehicle.drain(10) == [(b"a", (HERE, 1))]
        assert vehicle.drain(10) == [(b"b", (HERE, 1))]
        vehicle._socket = real


def test_what_the_system_refuses_is_counted():
    with UdpSocket() as vehicle:
        vehicle.send(bytes(70_000), (HERE, 9))
        assert vehicle.unsent == 1


def test_with_closes_the_socket():
    with UdpSocket((HERE, 0)) as udp:
        port = udp.port
        assert udp.fileno() >= 0
    assert udp.fileno() == -1
    with UdpSocket((HERE, port)) as again:
        assert again.port == port


def test_the_receive_buffer_is_raised():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain, UdpSocket() as udp:
        usual = plain.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        assert udp._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= usual


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("0.0.0.0", False), ("192.168.1.2", False)],
)
def test_knows_loopback(host, loopback):
    assert is_loopback(host) is loopback
