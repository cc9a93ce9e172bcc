import { randomUUID } from "node:crypto";
import type { Delivery, DeliveryClaim, DeliveryRequest, ReadyDeliveries } from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Things owed to players, such as purchases. `HubConnector.onDelivery` claims, runs and completes them. */
export class DeliveriesApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Creates a delivery. With the same `reference` again it is the delivery there is, however it ended; other values under a used
   * reference fail with `reference_used`.
   */
  create(request: DeliveryRequest): Promise<Delivery> {
    return this.transport.send({ method: "POST", path: path`deliveries`, body: request, repeat: "keyed" });
  }

  /** At most 100 deliveries that the server may claim now, of all players or of one. */
  ready(serverId: string, playerUuid?: string): Promise<ReadyDeliveries> {
    return this.transport.send({ method: "GET", path: path`deliveries`, query: { serverId, playerUuid } });
  }

  /** Claims a delivery for 60 seconds. Fails with `claimed`, `settled` or `not_ready`. */
  claim(deliveryId: number, serverId: string, idempotencyKey: string = randomUUID()): Promise<DeliveryClaim> {
    const headers = { "Idempotency-Key": idempotencyKey };
    const body = { serverId };
    return this.transport.send({ method: "POST", path: path`deliveries/${deliveryId}/claim`, body, headers, repeat: "keyed" });
  }

  /** Says that it is delivered; fails with `stale_claim` where the claim is over. */
  complete(deliveryId: number, claim: string): Promise<Delivery> {
    return this.transport.send({ method: "POST", path: path`deliveries/${deliveryId}/complete`, body: { claim } });
  }

  /** Says that it cannot be delivered: offered again with `retry`, up to five attempts, else FAILED. */
  fail(deliveryId: number, claim: string, reason?: string, retry = false): Promise<Delivery> {
    return this.transport.send({ method: "POST", path: path`deliveries/${deliveryId}/fail`, body: { claim, reason, retry } });
  }
}
