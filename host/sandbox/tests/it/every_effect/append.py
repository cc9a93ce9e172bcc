

# Each effect, for another event.
from network_hub_module import PunishmentKind, players, store
from network_hub_module.events import Retry


def every(now: int, count: float) -> list[Effect]:
    operations = [
        effects.Operation(owner_key="p", currency="coins", amount=-10),
        effects.Operation(owner_type="farm", owner_key="f", currency="coins", amount=10),
    ]
    friends = {"friends": ['Jürgen "J"']}
    return [
        effects.ModifyCurrency(owner_key="p", currency="coins", amount=-count, reason="fee", exact=True),
        effects.ModifyCurrency(owner_type="farm", owner_key="f", currency="coins", amount=0.1 + 0.2),
        effects.Transaction(operations=operations, reason="rent"),
        effects.IncrementStatistic(owner_key="p", name="votes", game_mode="bedwars", amount=1.5),
        effects.PutPlayerData(player_uuid="p", game_mode="global", namespace="quests", data="{}", version=3),
        effects.DeletePlayerData(player_uuid="p", game_mode="global", namespace="quests"),
        effects.PutDocument(collection="friends", id="p", document=friends, expected={"friends": []}),
        effects.DeleteDocument(collection="friends", id="p"),
        effects.PutPermission(
            player_uuid="p", node="rank.vip", context="lobby", world="nether", expires_at_ms=1797000000000
        ),
        effects.RemovePermission(player_uuid="p", node="rank.vip"),
        effects.Punish(player_name="Notch", kind=PunishmentKind.MUTE, duration_ms=600_000, reason="flood"),
        effects.RevokePunishment(id=91, reason="appeal"),
        effects.SendChat(target=effects.ToNetwork(), text="all", prefix="[Vote]"),
        effects.SendChat(target=effects.ToServerType("lobby"), text="type"),
        effects.SendChat(target=effects.ToServer("lobby-1"), text="server"),
        effects.SendChat(target=effects.ToPlayer("p"), text="player", optional=True),
        effects.emit("every", {"count": count}, "p"),
        effects.Deliver(
            player_uuid="p",
            kind="kit",
            payload={"kit": "starter"},
            server_type="survival",
            not_before_ms=now + 60_000,
            expires_at_ms=1800000000000,
            reference="tebex-8812",
            on_lost=effects.OnLost.RETRY,
        ),
        effects.Deliver(player_name="Notch", kind="kit", payload={}),
        effects.RunCommand(server_id="lobby-1", command="say hello", timeout_ms=5000, optional=True),
        effects.Transfer(player_uuid="p", target_server_id="lobby-1", target_world_id="w"),
        effects.CallWebhook(webhook_id="wh_3", name="purchase", payload={"id": "8812"}),
        effects.set_timer("player:p", now + 60_000, {"step": 2}),
        effects.CancelTimer(key="player:p"),
    ]


First = Events


class Events(First):
    def handle(self, context: CallContext, event: Event) -> list[Effect]:
        if event.kind == "SERVER_ONLINE":
            raise Retry("later")
        if event.kind == "SERVER_OFFLINE":
            store.get("handlers have none")
        if event.kind != "MODULE_EVENT":
            return super().handle(context, event)
        one, none = state.get_many(["a:1", "b"])
        [entry] = state.list("a:", after="a:1", limit=1)
        state.increment("count", 2, 60_000)
        state.delete("old")
        online = "".join(players.online_players())
        state.set("read", f"{one},{none or '-'},{entry.key}={entry.value},{online}")
        return every(context.now_ms, event.fields()["count"])
