package networkhub.connector;

import com.google.gson.JsonElement;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.PermissionsApi;
import networkhub.model.EffectivePermissions;

/**
 * Permissions of players. Answers immediately, from memory, on any thread; while the hub is away, with the last known state.
 * Read when a player is checked, and again when the hub announces a change.
 */
public final class PermissionCache {
    /** Lifetime of the permissions of players who did not join or have left. */
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(5);

    private record Entry(Map<String, Boolean> nodes, EffectivePermissions answer, String etag, long askedAtNanos) {}

    private final Map<UUID, Entry> entries = new ConcurrentHashMap<>();
    private final List<Consumer<UUID>> listeners = new CopyOnWriteArrayList<>();
    private final HubClient client;
    private final String context;
    /** Time of the last announced change. */
    private volatile long changedAtNanos = System.nanoTime();

    PermissionCache(HubClient client, String context) {
        this.client = client;
        this.context = context;
    }

    /** True if a player has a permission; false for unknown players. */
    public boolean has(UUID player, String node) {
        return Boolean.TRUE.equals(check(player, node));
    }

    /** Allowed, denied, or null where the network says nothing: then it is up to the server's defaults. */
    public Boolean check(UUID player, String node) {
        Entry entry = entries.get(player);
        if (entry == null) return null;
        String name = node.toLowerCase(Locale.ROOT);
        Boolean value = entry.nodes.get(name);
        // Of wildcards the longest wins; `kit.*` does not cover `kit` itself.
        for (int end = name.lastIndexOf('.'); value == null && end >= 0; end = name.lastIndexOf('.', end - 1)) {
            value = entry.nodes.get(name.substring(0, end + 1) + "*");
        }
        return value == null ? entry.nodes.get("*") : value;
    }

    /** The hub's last answer about a player, with their groups; null where there is none. */
    public EffectivePermissions get(UUID player) {
        Entry entry = entries.get(player);
        return entry == null ? null : entry.answer;
    }

    /** Calls this with each player whose permissions were read and are others than before, on any thread. */
    public void onChange(Consumer<UUID> listener) {
        listeners.add(listener);
    }

    /** An answer to a question that was asked at this time; dropped where a later one was answered before. */
    void put(UUID player, EffectivePermissions answer, String etag, long askedAtNanos) {
        Map<String, Boolean> nodes = new HashMap<>();
        answer.permissions().forEach((node, value) -> nodes.put(node.toLowerCase(Locale.ROOT), value));
        Entry read = new Entry(nodes, answer, etag, askedAtNanos);
        AtomicReference<Entry> before = new AtomicReference<>();
        Entry kept = entries.compute(player, (id, known) -> {
            before.set(known);
            return known != null && known.askedAtNanos - askedAtNanos > 0 ? known : read;
        });
        boolean isChanged = kept == read && (before.get() == null || !before.get().nodes.equals(nodes));
        if (isChanged) listeners.forEach(listener -> listener.accept(player));
    }

    CompletableFuture<Void> refresh(UUID player) {
        Entry entry = entries.get(player);
        String etag = entry == null ? null : entry.etag;
        long askedAt = System.nanoTime();
        return client.permissions().effective(player, context, null, etag)
                .thenAccept(answer -> keep(player, answer, entry, askedAt));
    }

    /** An answer without permissions says that they are those of the entry that it was asked with. */
    private void keep(UUID player, PermissionsApi.VersionedPermissions answer, Entry entry, long askedAt) {
        if (answer.permissions() != null) {
            put(player, answer.permissions(), answer.etag(), askedAt);
        } else if (entry != null) {
            put(player, entry.answer, answer.etag(), askedAt);
        }
    }

    /** Records that an event announced a change. */
    void changed() {
        changedAtNanos = System.nanoTime();
    }

    /** True if a change was announced after the known state was requested. */
    boolean mayBeStale(UUID player) {
        Entry entry = entries.get(player);
        return entry == null || entry.askedAtNanos - changedAtNanos < 0;
    }

    /** True if the known state may be older than this change. */
    boolean isBefore(UUID player, JsonElement revision) {
        Entry entry = entries.get(player);
        return entry == null || revision == null || entry.answer.revision() < revision.getAsLong();
    }

    /** True if a player's permissions have expired or are unknown. */
    boolean hasExpired(UUID player, long hubNow) {
        Entry entry = entries.get(player);
        if (entry == null) return true;
        return entry.answer.validUntil() != null && entry.answer.validUntil() <= hubNow;
    }

    /** Forgets those who are not online. */
    void prune(Set<UUID> online) {
        long now = System.nanoTime();
        entries.entrySet().removeIf(entry ->
                !online.contains(entry.getKey()) && now - entry.getValue().askedAtNanos > KEPT_NANOS);
    }
}
