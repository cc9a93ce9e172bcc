"""Things owed to players."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from .. import _json
from .._call import Api, Call, TransportT, keyed, model, operation, path, query
from ..models import Delivery, DeliveryClaim, DeliveryRequest, ReadyDeliveries


class DeliveriesApi(Api[TransportT]):
    """Things owed to players, such as purchases. `HubConnector.on_delivery` claims, runs and completes them."""

    @operation
    def create(self, request: DeliveryRequest) -> Call[Delivery]:
        """Creates a delivery. With the same `reference` again it is the delivery there is, however it ended.

        Other values under a used reference fail with `reference_used`.
        """
        return Call("POST", path("deliveries"), model(Delivery), body=request, **keyed())

    @operation
    def ready(self, server_id: str, player: UUID | None = None) -> Call[ReadyDeliveries]:
        """At most 100 deliveries that the server may claim now, of all players or of one."""
        return Call("GET", path("deliveries"), model(ReadyDeliveries), query(server_id=server_id, player_uuid=player))

    @operation
    def claim(self, delivery_id: int, server_id: str, *, idempotency_key: str | None = None) -> Call[DeliveryClaim]:
        """Claims a delivery for 60 seconds. Fails with `claimed`, `settled` or `not_ready`."""
        target = path("deliveries", delivery_id, "claim")
        return Call("POST", target, model(DeliveryClaim), body={"serverId": server_id}, **keyed(idempotency_key))

    @operation
    def complete(self, delivery_id: int, claim: str) -> Call[Delivery]:
        """Says that it is delivered; fails with `stale_claim` where the claim is over."""
        return Call("POST", path("deliveries", delivery_id, "complete"), model(Delivery), body={"claim": claim})

    @operation
    def fail(self, delivery_id: int, claim: str, reason: str | None = None, retry: bool = False) -> Call[Delivery]:
        """Says that it cannot be delivered: offered again with `retry`, up to five attempts, else FAILED."""
        body: dict[str, Any] = _json.present(claim=claim, reason=reason, retry=retry)
        return Call("POST", path("deliveries", delivery_id, "fail"), model(Delivery), body=body)
