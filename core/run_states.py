"""The run-state machine and the run's clock."""

from typing import Final

from wire.errors import CommandError
from wire.messages import Order
from wire.words import RunState

LEGAL: Final[dict[RunState, tuple[RunState, ...]]] = {
    RunState.READY: (RunState.SET, RunState.STOP),
    RunState.SET: (RunState.GO, RunState.READY, RunState.STOP),
    RunState.GO: (RunState.PAUSE, RunState.STOP),
    RunState.PAUSE: (RunState.GO, RunState.SET, RunState.READY, RunState.STOP),
    RunState.STOP: (),
}


class Run:
    """Where the run stands: its order of the hour, and simulation time as a function of the clock.

    `now_s` is any steady clock; in lockstep and in process it is simulated itself and `countdown_s` is 0.
    """

    def __init__(self, *, beat_s: float, rate: float, countdown_s: float) -> None:
        self.state = RunState.READY
        self.number = 0
        self.run_id = ""
        self.set_number = 0  # rows that echo an older order belong to an earlier run
        self.commanded = False
        self._beat_s = beat_s
        self._rate = rate
        self._countdown_s = countdown_s
        self._zero_s = 0.0  # clock at simulation time 0, in GO
        self._held_s = 0.0  # simulation time while it does not run

    def order(self, now_s: float) -> Order:
        return Order(self.number, self.state, self.t_s(now_s), self._rate, self.run_id)

    def t_s(self, now_s: float) -> float:
        """Simulation time; negative while GO counts down from 0."""
        if self.state == RunState.GO:
            return (now_s - self._zero_s) * self._rate
        return self._held_s

    def due_s(self, beat: int) -> float:
        """The clock at which a beat of GO is due."""
        return self._zero_s + beat * self._beat_s / self._rate

    def change(self, to: RunState, now_s: float, new_run_id: str) -> None:
        """Raises CommandError when the change is not legal now. SET begins the run `new_run_id`."""
        if to not in LEGAL[self.state]:
            after = [state.name for state, following in LEGAL.items() if to in following]
            raise CommandError(
                f"cannot change from {self.state.name} to {to.name}: {to.name} follows {' or '.join(after) or 'nothing'}"
            )
        t_s = self.t_s(now_s)
        self.number += 1
        self.commanded = True
        if to == RunState.GO:
            self._zero_s = now_s + self._countdown_s - self._held_s / self._rate
        elif to == RunState.PAUSE:
            # Everybody holds at the same beat, a little ahead so that the word gets there in time.
            ahead = 2 if self._countdown_s > 0.0 else 0
            self._held_s = max(0, round(t_s / self._beat_s) + ahead) * self._beat_s
        elif to == RunState.SET:
            self._held_s = 0.0
            self.run_id = new_run_id
            self.set_number = self.number
        else:
            self._held_s = max(0.0, t_s)
        self.state = to

    def adopt(self, order: Order, now_s: float) -> None:
        """Take over a run that the vehicles are in already: this Core was started in the middle of it."""
        self.state, self.number, self.run_id = order.state, order.number, order.run_id
        self._held_s = max(0.0, order.t_s)
        self._zero_s = now_s - max(0.0, order.t_s) / self._rate

    def align(self, t_s: float, now_s: float) -> None:
        """After `adopt`: the vehicles say what time it is."""
        self._zero_s = now_s - t_s / self._rate
