"""Coins for votes that a listing of servers reports, and each voter's count."""

from dataclasses import dataclass

from network_hub_module import CallContext, config, effects, log, state
from network_hub_module.endpoints import Reject, Request, Response, error, json


@dataclass
class Config:
    # Currency of the reward.
    currency: str = "coins"
    # The reward of a vote.
    reward: float = 25.0
    # Kind of the delivery for each tenth vote; empty: none.
    tenth: str = ""


class Endpoints:
    def answer(self, context: CallContext, request: Request) -> Response:
        settings = config(context, Config)
        match request.endpoint:
            case "vote":
                return vote(settings, request)
            case "votes":
                return json(200, {"votes": votes_of(request.parameters.get("player", ""))})
            case other:
                raise Reject(f"there is no endpoint {other}")


def votes_of(player: str) -> int:
    return int(state.get(f"votes:{player}") or 0)


def vote(settings: Config, request: Request) -> Response:
    """The hub has checked who sent it, and calls once for each vote however often it is sent."""
    player = request.fields().get("player")
    if not isinstance(player, str):
        return error(400, "invalid_request", "a vote has a `player`")
    votes = votes_of(player) + 1
    # Committed with the effects and the answer: all or nothing.
    state.set(f"votes:{player}", str(votes))
    done: list[effects.Effect] = [effects.modify_currency(player, settings.currency, settings.reward, "vote")]
    if votes % 10 == 0 and settings.tenth:
        log.info(f"vote {votes} of {player}")
        done.append(
            effects.Deliver(
                player_uuid=player, kind=settings.tenth, payload={"votes": votes}, reference=request.dedupe
            )
        )
    return json(200, {"votes": votes}, effects=done)
