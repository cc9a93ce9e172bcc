package networkhub;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.Delivery;
import networkhub.model.DeliveryClaim;
import networkhub.model.DeliveryRequest;
import networkhub.model.ReadyDeliveries;

/** What is owed to players. A {@code HubConnector} claims and settles deliveries itself, for the kinds that it was given a handler for. */
public final class DeliveriesApi {
    private final Transport transport;

    DeliveriesApi(Transport transport) {
        this.transport = transport;
    }

    /** Creates a delivery. The same {@code reference} again answers with the delivery that there is. */
    public CompletableFuture<Delivery> create(DeliveryRequest request) {
        return transport.send(Call.post("deliveries").body(request).keyed(), Delivery.class);
    }

    /**
     * Returns what a server may claim now, at most 100.
     *
     * @param player whose; null for everybody on the server
     */
    public CompletableFuture<ReadyDeliveries> ready(String serverId, UUID player) {
        return transport.send(Call.get("deliveries").query("serverId", serverId).query("playerUuid", player),
                ReadyDeliveries.class);
    }

    /** Claims a delivery for a minute, for the server where its player is. */
    public CompletableFuture<DeliveryClaim> claim(long deliveryId, String serverId) {
        return claim(deliveryId, serverId, UUID.randomUUID().toString());
    }

    /** The same under a key of the caller's: with the same key it is answered with the same claim, however often it is sent. */
    public CompletableFuture<DeliveryClaim> claim(long deliveryId, String serverId, String idempotencyKey) {
        return transport.send(Call.post("deliveries", deliveryId, "claim")
                .fields("serverId", serverId)
                .keyed()
                .header("Idempotency-Key", idempotencyKey), DeliveryClaim.class);
    }

    /** Settles a claimed delivery as carried out. A repeat is answered as before. */
    public CompletableFuture<Delivery> complete(long deliveryId, String claim) {
        return transport.send(Call.post("deliveries", deliveryId, "complete").fields("claim", claim), Delivery.class);
    }

    /**
     * Returns a claimed delivery that was not carried out.
     *
     * @param reason for people; or null
     * @param retry whether it is offered again, up to 5 attempts
     */
    public CompletableFuture<Delivery> fail(long deliveryId, String claim, String reason, boolean retry) {
        return transport.send(Call.post("deliveries", deliveryId, "fail")
                .fields("claim", claim, "reason", reason, "retry", retry), Delivery.class);
    }
}
