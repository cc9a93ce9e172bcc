package networkhub;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.Punishment;

/** Bans, mutes, warnings, kicks. */
public final class PunishmentsApi {
    private final Transport transport;

    PunishmentsApi(Transport transport) {
        this.transport = transport;
    }

    /** Punishes a player; the name may be null. */
    public CompletableFuture<Punishment> punish(UUID player, String playerName, PunishmentRequest request) {
        Call call = Call.post("punishments", "create").body(request).keyed();
        call.body.getAsJsonObject().addProperty("playerUuid", player.toString());
        if (playerName != null) call.body.getAsJsonObject().addProperty("playerName", playerName);
        return transport.send(call, Punishment.class);
    }

    /** Punishes whoever has or will have this name. */
    public CompletableFuture<Punishment> punishName(String playerName, PunishmentRequest request) {
        Call call = Call.post("punishments", "create-by-name").body(request).keyed();
        call.body.getAsJsonObject().addProperty("playerName", playerName);
        return transport.send(call, Punishment.class);
    }

    /** Punishes an address; empty, and nothing is done, for a blank one. */
    public CompletableFuture<Optional<Punishment>> punishIp(String ipAddress, PunishmentRequest request) {
        Call call = Call.post("punishments", "create-ip").body(request).keyed();
        call.body.getAsJsonObject().addProperty("ipAddress", ipAddress == null ? "" : ipAddress);
        return transport.send(call, Punishment.class).thenApply(Optional::ofNullable);
    }

    /** Notes a player's address now, so that punishments of addresses match; the name may be null. */
    public CompletableFuture<Void> noteIp(UUID player, String playerName, String ipAddress) {
        return transport.run(Call.post("punishments", "ip")
                .fields("playerUuid", player, "playerName", playerName, "ipAddress", ipAddress));
    }

    /** What matches a player, an address, or either one; one of the two may be null. */
    public CompletableFuture<List<Punishment>> query(UUID player, String ip, boolean activeOnly) {
        return transport.list(Call.get("punishments", "query")
                .query("playerUuid", player)
                .query("ip", ip)
                .query("activeOnly", activeOnly), Punishment.class);
    }

    /** A player's punishments. */
    public CompletableFuture<List<Punishment>> ofPlayer(UUID player, boolean activeOnly) {
        return transport.list(Call.get("punishments", "player", player).query("activeOnly", activeOnly), Punishment.class);
    }

    /** All of a player's punishments, also those that ended, the latest first. */
    public CompletableFuture<List<Punishment>> historyOfPlayer(UUID player, int limit, int offset) {
        return transport.list(Call.get("punishments", "player", player, "history")
                .query("limit", limit)
                .query("offset", offset), Punishment.class);
    }

    /** A name's punishments. */
    public CompletableFuture<List<Punishment>> ofName(String name, boolean activeOnly) {
        return transport.list(Call.get("punishments", "player-name", name).query("activeOnly", activeOnly),
                Punishment.class);
    }

    /** All of a name's punishments, also those that ended, the latest first. */
    public CompletableFuture<List<Punishment>> historyOfName(String name, int limit, int offset) {
        return transport.list(Call.get("punishments", "player-name", name, "history")
                .query("limit", limit)
                .query("offset", offset), Punishment.class);
    }

    /** Revokes a punishment; one that is not active is answered as it is. The actor and the reason may be null. */
    public CompletableFuture<Punishment> remove(long punishmentId, UUID actorUuid, String actorName, String reason) {
        return transport.send(Call.post("punishments", "remove")
                .fields("punishmentId", punishmentId, "actorUuid", actorUuid, "actorName", actorName, "reason", reason)
                .keyed(), Punishment.class);
    }

    /** Revokes all active bans of a name, and of its last address if asked to; answers the revoked ones. */
    public CompletableFuture<List<Punishment>> unbanName(String playerName, boolean alsoUnbanLastIp, UUID actorUuid,
            String actorName, String reason) {
        return transport.list(Call.post("punishments", "unban-by-name")
                .fields("playerName", playerName, "alsoUnbanLastIp", alsoUnbanLastIp, "actorUuid", actorUuid,
                        "actorName", actorName, "reason", reason)
                .keyed(), Punishment.class);
    }

    /** Revokes all active bans of an address; answers the revoked ones. */
    public CompletableFuture<List<Punishment>> unbanIp(String ipAddress, UUID actorUuid, String actorName,
            String reason) {
        return transport.list(Call.post("punishments", "unban-ip")
                .fields("ipAddress", ipAddress, "actorUuid", actorUuid, "actorName", actorName, "reason", reason)
                .keyed(), Punishment.class);
    }
}
