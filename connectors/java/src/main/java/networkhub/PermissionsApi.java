package networkhub;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.EffectivePermissions;
import networkhub.model.Match;
import networkhub.model.PermissionGroup;
import networkhub.model.PermissionGroupUpdate;
import networkhub.model.PermissionNode;
import networkhub.model.PermissionNodeInput;

/** Groups and what players may do. */
public final class PermissionsApi {
    private final Transport transport;

    PermissionsApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Answer of the hub.
     *
     * @param permissions null where they are still those of the tag that was sent
     * @param etag names this answer; null where the hub gives none
     */
    public record VersionedPermissions(EffectivePermissions permissions, String etag) {}

    /**
     * Returns a player's effective permissions, groups included.
     *
     * @param context where they are, as {@code server=lobby,gamemode=skyblock}; or null
     * @param world the world they are in, or null
     * @param etag of an answer that is still kept, or null
     */
    public CompletableFuture<VersionedPermissions> effective(UUID player, String context, String world, String etag) {
        Call call = Call.get("permissions", "users", player, "effective")
                .query("context", context)
                .query("world", world)
                .header("If-None-Match", etag);
        return transport.exchange(call).thenApply(response -> {
            String tag = response.headers().firstValue("ETag").orElse(null);
            if (response.statusCode() == 304) return new VersionedPermissions(null, tag == null ? etag : tag);
            return new VersionedPermissions(Transport.read(response, EffectivePermissions.class), tag);
        });
    }

    /** All groups. */
    public CompletableFuture<List<PermissionGroup>> groups() {
        return transport.list(Call.get("permissions", "groups"), PermissionGroup.class);
    }

    /** A group; empty where there is none. */
    public CompletableFuture<Optional<PermissionGroup>> group(String groupId) {
        return PlayersApi.optional(transport.send(Call.get("permissions", "groups", groupId), PermissionGroup.class));
    }

    /** Creates or replaces a group. */
    public CompletableFuture<Void> putGroup(String groupId, PermissionGroupUpdate group) {
        return transport.run(Call.put("permissions", "groups", groupId).body(group));
    }

    /** Deletes a group; returns whether it existed. */
    public CompletableFuture<Boolean> deleteGroup(String groupId) {
        Call call = Call.delete("permissions", "groups", groupId);
        return PlayersApi.optional(transport.run(call).thenApply(nothing -> true)).thenApply(Optional::isPresent);
    }

    /** A player's own nodes, without those of groups. */
    public CompletableFuture<List<PermissionNode>> ofPlayer(UUID player) {
        return transport.list(Call.get("permissions", "users", player, "permissions"), PermissionNode.class);
    }

    /** Gives a player a node; one of the same name, context and world is replaced. */
    public CompletableFuture<Void> add(UUID player, PermissionNodeInput node) {
        return transport.run(Call.post("permissions", "users", player, "permissions").body(node));
    }

    /** Takes a node from a player. */
    public CompletableFuture<Void> remove(UUID player, PermissionNodeInput node) {
        return transport.run(Call.post("permissions", "users", player, "permissions", "remove").body(node));
    }
}
