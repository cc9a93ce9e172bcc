"""Welcome: a reward for the first join, and a count of them."""

from dataclasses import dataclass

from network_hub_module import CallContext, config, effects, log, state
from network_hub_module.effects import Effect
from network_hub_module.events import Event


@dataclass
class Config:
    # Currency of the reward.
    currency: str = "coins"
    # The reward; 0: none.
    reward: float = 100.0
    # Each so many first joins are announced; 0: none.
    announce_every: int = 100


class Events:
    def handle(self, context: CallContext, event: Event) -> list[Effect]:
        settings = config(context, Config)
        player = event.player()
        name = event.player_name or "stranger"
        seen = f"seen:{player}"
        if state.get(seen) is not None:
            return []
        # Committed with the effects: all or nothing.
        state.set(seen, "1")
        answer: list[Effect] = []
        if settings.reward > 0:
            answer.append(effects.modify_currency(player, settings.currency, settings.reward, "first join"))
        # Refused where the player has left meanwhile, which is no reason to keep the reward back.
        answer.append(effects.tell(player, f"Welcome, {name}!", optional=True))
        # Of two calls that count at once, one runs again.
        joined = int(state.get("joined") or 0) + 1
        state.set("joined", str(joined))
        if settings.announce_every > 0 and joined % settings.announce_every == 0:
            log.info(f"announced {name}")
            answer.append(effects.announce(f"{name} is player number {joined}."))
        return answer
