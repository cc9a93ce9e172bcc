"""A happy hour each evening: a schedule begins it, a timer ends it."""

from dataclasses import dataclass

from network_hub_module import CallContext, config, effects, log, state
from network_hub_module.effects import Effect
from network_hub_module.schedules import Tick
from network_hub_module.timers import Reject, Timer


@dataclass
class Config:
    # Announcement of the beginning.
    message: str = "Happy hour!"
    # Duration in minutes; 0: it has no end.
    minutes: int = 60


class Schedules:
    def tick(self, context: CallContext, tick: Tick) -> list[Effect]:
        settings = config(context, Config)
        if tick.missed > 0:
            log.info(f"{tick.missed} happy hours were missed")
        # Committed with the effects: all or nothing.
        number = int(state.get("count") or 0) + 1
        state.set("count", str(number))
        answer: list[Effect] = [effects.announce(settings.message)]
        if settings.minutes > 0:
            # Replaces the timer of a happy hour that goes on.
            end = tick.due_at_ms + settings.minutes * 60_000
            answer.append(effects.set_timer("end", end, {"number": number}))
        return answer


class Timers:
    def fire(self, context: CallContext, timer: Timer) -> list[Effect]:
        number = timer.fields().get("number")
        # One that another version set.
        if not isinstance(number, int):
            raise Reject(f"the timer {timer.key} has no number")
        return [effects.announce(f"Happy hour number {number} is over.")]
