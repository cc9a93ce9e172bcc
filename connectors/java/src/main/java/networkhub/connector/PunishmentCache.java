package networkhub.connector;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;

/**
 * The punishments that the connector knows of, kept current by events. Answers immediately, from memory, on any thread, also while the hub
 * is away. It fails closed: a ban or mute stays until its own end, and an unknown player is treated as muted.
 */
public final class PunishmentCache {
    private static final int CAPACITY = 50_000;
    /** More events than come while an answer is on its way. */
    private static final int RECENT = 1_000;

    private record Update(Punishment punishment, boolean isActive, long atNanos) {}

    /** A player's state at their last check. */
    private record Check(String name, String ip, long atNanos) {
        boolean isOf(String name, String ip) {
            return Objects.equals(this.name, name) && Objects.equals(this.ip, ip);
        }
    }

    private final Map<Long, Punishment> active = bounded();
    private final Map<UUID, Check> checks = bounded();
    private final Deque<Update> recent = new ArrayDeque<>();
    private final HubClock clock;
    /** The checks before this time no longer count: events may have been missed. */
    private long gapAtNanos = System.nanoTime();

    PunishmentCache(HubClock clock) {
        this.clock = clock;
    }

    private static <K, V> Map<K, V> bounded() {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > CAPACITY;
            }
        };
    }

    /** The ban that keeps a checked player out, if there is one. */
    public Optional<Punishment> ban(UUID player) {
        return find(player, PunishmentKind.BAN);
    }

    /** The mute of a player, if one is known. */
    public Optional<Punishment> mute(UUID player) {
        return find(player, PunishmentKind.MUTE);
    }

    /** True if a player may not chat: they are muted, or were never checked, so that a mute would be unknown. */
    public synchronized boolean isMuted(UUID player) {
        return !checks.containsKey(player) || find(player, PunishmentKind.MUTE).isPresent();
    }

    private synchronized Optional<Punishment> find(UUID player, PunishmentKind type) {
        Check check = checks.get(player);
        return find(player, check == null ? null : check.name, check == null ? null : check.ip, type);
    }

    synchronized Optional<Punishment> find(UUID player, String name, String ip, PunishmentKind type) {
        long now = clock.now();
        return active.values().stream()
                .filter(punishment -> punishment.type() == type)
                .filter(punishment -> punishment.expiresAt() == null || punishment.expiresAt() > now)
                .filter(punishment -> concerns(punishment, player, name, ip))
                .findFirst();
    }

    /** True if a punishment applies to a player who was checked here. */
    synchronized boolean concerns(Punishment punishment, UUID player) {
        Check check = checks.get(player);
        return concerns(punishment, player, check == null ? null : check.name, check == null ? null : check.ip);
    }

    private static boolean concerns(Punishment punishment, UUID player, String name, String ip) {
        if (player.equals(punishment.playerUuid())) return true;
        if (punishment.playerUuid() == null && name != null && name.equalsIgnoreCase(punishment.playerName())) return true;
        boolean ofAddress = punishment.ipBased() || punishment.playerUuid() == null && punishment.playerName() == null;
        return ofAddress && ip != null && ip.equals(punishment.ipAddress());
    }

    /**
     * The hub answered, when asked at this time, that these are all active punishments of a player. An answer is dropped where the same
     * was asked later and answered before.
     */
    synchronized void checked(UUID player, String name, String ip, Collection<Punishment> punishments, long askedAtNanos) {
        Check last = checks.get(player);
        if (last != null && last.atNanos - askedAtNanos > 0 && last.isOf(name, ip)) return;
        active.values().removeIf(known -> concerns(known, player, name, ip));
        for (Punishment punishment : punishments) active.put(punishment.id(), punishment);
        checks.put(player, new Check(name, ip, askedAtNanos));
        // Events since then may be newer than the answer.
        recent.stream().filter(update -> update.atNanos - askedAtNanos >= 0)
                .forEach(update -> apply(update.punishment, update.isActive));
    }

    /** Applies a punishment of an event. */
    synchronized void update(Punishment punishment, boolean isActive) {
        recent.add(new Update(punishment, isActive, System.nanoTime()));
        if (recent.size() > RECENT) recent.poll();
        apply(punishment, isActive);
    }

    private void apply(Punishment punishment, boolean isActive) {
        if (isActive) {
            active.put(punishment.id(), punishment);
        } else {
            active.remove(punishment.id());
        }
    }

    /** Events may have been missed: only what is checked from now on is current. */
    synchronized void gap() {
        gapAtNanos = System.nanoTime();
    }

    /** True if a player was checked with this address since the last gap; without an address, with any. */
    synchronized boolean isCurrent(UUID player, String ip) {
        Check check = checks.get(player);
        return check != null && check.atNanos - gapAtNanos >= 0 && (ip == null || ip.equals(check.ip));
    }

    /** True if a player was checked last with this name and address. */
    synchronized boolean isOf(UUID player, String name, String ip) {
        return Objects.equals(name(player), name) && Objects.equals(ip(player), ip);
    }

    synchronized String ip(UUID player) {
        Check check = checks.get(player);
        return check == null ? null : check.ip;
    }

    synchronized String name(UUID player) {
        Check check = checks.get(player);
        return check == null ? null : check.name;
    }

    /** The punishments that are known to be active. */
    public synchronized List<Punishment> all() {
        return List.copyOf(active.values());
    }
}
