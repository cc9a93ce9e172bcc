package networkhub;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** Reports of players about players, for the staff. */
public final class ReportsApi {
    private final Transport transport;

    ReportsApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Reports a player; it keeps their latest lines of chat. Fails with {@code quota_exceeded} where five wait already.
     *
     * @param serverId the server that it was written on, or null
     */
    public CompletableFuture<Void> create(UUID reporter, UUID player, String reason, String serverId) {
        return transport.run(Call.post("reports")
                .fields("reporterUuid", reporter, "playerUuid", player, "reason", reason, "serverId", serverId)
                .keyed());
    }
}
