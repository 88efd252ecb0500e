"""The in-process world: Core's and the vehicles' pure parts joined in a loop of beats, without sockets or clocks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.hub import Hub
from core.settings import CoreSettings
from vehicles.fleet import COMPILE_FROM, Fleet, Heard
from vehicles.spec import VehicleSpec, introduction
from wire.frame import Frame
from wire.messages import Message
from wire.record import Entry
from wire.words import RunState

HERE = "in process"


class World:
    """One run of a scenario, as fast as the machine allows. Simulated time is the only clock."""

    def __init__(
        self,
        settings: CoreSettings,
        specs: Sequence[VehicleSpec],
        *,
        step_s: float,
        frame: Frame,
        run_id: str,
        started_unix_s: float,
        keep: Callable[[list[Entry]], None],
        compile_from: int = COMPILE_FROM,
    ) -> None:
        self._now_s = 0.0
        self._keep = keep
        self._beat_s = settings.beat_s
        settings = settings._replace(countdown_s=0.0, rate=1.0)
        self.hub = Hub(settings, sender=0, unix=lambda: started_unix_s + self._now_s, new_run_id=lambda: run_id)
        self.fleet = Fleet(
            specs, seed=settings.seed, beat_s=settings.beat_s, step_s=step_s, frame=frame, compile_from=compile_from
        )
        peer = self.hub.peers.welcome(1, HERE)
        assert peer is not None  # the first of them
        self._owner = peer.index
        self.hub.introduce([introduction(spec) for spec in specs], peer)

    def run(self, duration_s: float) -> Iterator[float]:
        """Walk through SET, GO and STOP; yields simulation time after every beat. Entries go to `keep` as they arise."""
        self.hub.command("set", 0.0)
        self._report(RunState.SET)
        self.hub.command("go", 0.0)
        self._report(RunState.GO)
        beats = round(duration_s / self._beat_s)
        while True:
            findings = self.hub.check(self._now_s, self.fleet.t_s)
            self.hub.next_beat()
            self._hand_over()
            yield self._now_s
            if self.hub.beat > beats:
                break
            heard = [Heard(post.to_vid, post.from_vid, post.t_s, post.text) for post in findings.posts]
            said = self.fleet.advance(findings.advisories, heard)
            self._now_s = self.fleet.t_s
            for message in said:
                self.hub.say(Message(sender=1, seq=0, t_sent_s=0.0, **message._asdict()))
            self._report(RunState.GO)
        self.stop()

    def stop(self) -> None:
        """End the run here and now."""
        self.hub.command("stop", self._now_s)
        self._report(RunState.STOP)
        self._hand_over()

    def summary(self) -> dict[str, Any]:
        return self.hub.tally.summary() | {"t_s": self._now_s}

    def _report(self, state: RunState) -> None:
        self.hub.admit(self.fleet.rows(state), self._owner, self._now_s)

    def _hand_over(self) -> None:
        out = self.hub.take_outbox()
        if out.entries:
            self._keep(out.entries)
