package networkhub;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.TransferOutcome;

/** Sending players to other servers. {@code HubConnector.transfer} also waits for servers that are just reconnecting. */
public final class TransfersApi {
    private final Transport transport;

    TransfersApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Sends a player from the server they are on to another one. The answer says whether the command is on its way, not whether
     * the player arrived.
     *
     * @param worldId the world there, or null
     */
    public CompletableFuture<TransferOutcome> transfer(UUID player, String targetServerId, String worldId) {
        return transfer(player, targetServerId, worldId, UUID.randomUUID().toString());
    }

    /** The same under a key of the caller's: with the same key it counts once, however often it is sent. */
    public CompletableFuture<TransferOutcome> transfer(UUID player, String targetServerId, String worldId,
            String idempotencyKey) {
        return transport.send(Call.post("transfers")
                .fields("playerUuid", player, "targetServerId", targetServerId, "targetWorldId", worldId)
                .keyed()
                .header("Idempotency-Key", idempotencyKey), TransferOutcome.class);
    }

    /**
     * Reports how a transfer ended. The first report counts; a join at the target is one, too.
     *
     * @param result {@code SUCCESS}, or an upper-case word that says what went wrong, which releases the slot
     * @param errorMessage a sentence, or null
     */
    public CompletableFuture<Void> report(UUID transferId, UUID player, String result, String errorMessage) {
        return transport.run(Call.post("transfers", "result")
                .fields("transferId", transferId, "playerUuid", player, "result", result, "errorMessage", errorMessage));
    }
}
