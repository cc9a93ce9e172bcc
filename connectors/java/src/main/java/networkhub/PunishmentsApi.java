package networkhub;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.AddressPunishmentRequest;
import networkhub.model.AddressUnban;
import networkhub.model.NamePunishmentRequest;
import networkhub.model.NameUnban;
import networkhub.model.PlayerAddress;
import networkhub.model.Punishment;
import networkhub.model.PunishmentRemoval;
import networkhub.model.PunishmentRequest;

/** Bans, mutes, warnings, kicks. */
public final class PunishmentsApi {
    private final Transport transport;

    PunishmentsApi(Transport transport) {
        this.transport = transport;
    }

    /** Punishes a player, permanently without a duration. */
    public CompletableFuture<Punishment> punish(PunishmentRequest request) {
        return create("create", request);
    }

    /** Punishes the player who has or will have a name. */
    public CompletableFuture<Punishment> punishName(NamePunishmentRequest request) {
        return create("create-by-name", request);
    }

    /** Punishes an address; empty, and without effect, for a blank one. */
    public CompletableFuture<Optional<Punishment>> punishIp(AddressPunishmentRequest request) {
        return create("create-ip", request).thenApply(Optional::ofNullable);
    }

    /** Records a player's current address, so that punishments of addresses match. */
    public CompletableFuture<Void> recordIp(PlayerAddress address) {
        return transport.run(Call.post("punishments", "ip").body(address));
    }

    /** Returns the punishments of a player, an address, or either; one of the two may be null. */
    public CompletableFuture<List<Punishment>> query(UUID player, String ip, boolean activeOnly) {
        return transport.list(Call.get("punishments", "query")
                .query("playerUuid", player)
                .query("ip", ip)
                .query("activeOnly", activeOnly), Punishment.class);
    }

    /** Returns a player's punishments. */
    public CompletableFuture<List<Punishment>> ofPlayer(UUID player, boolean activeOnly) {
        return transport.list(Call.get("punishments", "player", player).query("activeOnly", activeOnly), Punishment.class);
    }

    /** Returns all of a player's punishments, ended ones included, the latest first. */
    public CompletableFuture<List<Punishment>> historyOfPlayer(UUID player, int limit, int offset) {
        return transport.list(Call.get("punishments", "player", player, "history")
                .query("limit", limit)
                .query("offset", offset), Punishment.class);
    }

    /** Returns a name's punishments. */
    public CompletableFuture<List<Punishment>> ofName(String name, boolean activeOnly) {
        return transport.list(Call.get("punishments", "player-name", name).query("activeOnly", activeOnly),
                Punishment.class);
    }

    /** Returns all of a name's punishments, ended ones included, the latest first. */
    public CompletableFuture<List<Punishment>> historyOfName(String name, int limit, int offset) {
        return transport.list(Call.get("punishments", "player-name", name, "history")
                .query("limit", limit)
                .query("offset", offset), Punishment.class);
    }

    /** Revokes a punishment; one that is not active is returned unchanged. */
    public CompletableFuture<Punishment> remove(PunishmentRemoval removal) {
        return create("remove", removal);
    }

    /** Revokes all active bans of a name, and on request of its last address; returns the revoked ones. */
    public CompletableFuture<List<Punishment>> unbanName(NameUnban unban) {
        return transport.list(Call.post("punishments", "unban-by-name").body(unban).keyed(), Punishment.class);
    }

    /** Revokes all active bans of an address; returns the revoked ones. */
    public CompletableFuture<List<Punishment>> unbanIp(AddressUnban unban) {
        return transport.list(Call.post("punishments", "unban-ip").body(unban).keyed(), Punishment.class);
    }

    private CompletableFuture<Punishment> create(String route, Object request) {
        return transport.send(Call.post("punishments", route).body(request).keyed(), Punishment.class);
    }
}
