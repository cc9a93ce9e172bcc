package networkhub.example.minestom;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import net.minestom.server.coordinate.Pos;
import net.minestom.server.entity.Player;
import net.minestom.server.event.Event;
import net.minestom.server.event.EventNode;
import net.minestom.server.event.inventory.InventoryPreClickEvent;
import net.minestom.server.event.item.ItemDropEvent;
import net.minestom.server.event.item.PickupItemEvent;
import net.minestom.server.event.player.AsyncPlayerConfigurationEvent;
import net.minestom.server.event.player.AsyncPlayerPreLoginEvent;
import net.minestom.server.event.player.PlayerBlockBreakEvent;
import net.minestom.server.event.player.PlayerBlockPlaceEvent;
import net.minestom.server.event.player.PlayerChatEvent;
import net.minestom.server.event.player.PlayerDisconnectEvent;
import net.minestom.server.event.player.PlayerSpawnEvent;
import net.minestom.server.event.player.PlayerSwapItemEvent;
import net.minestom.server.event.player.PlayerUseItemEvent;
import net.minestom.server.event.trait.CancellableEvent;
import net.minestom.server.event.trait.PlayerEvent;
import net.minestom.server.instance.Instance;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Verdict;

/** Minestom's events. Bans are decided before a player logs in, on a thread of its own that may wait. */
final class MinestomListener {
    /** More than the hub's answer ever takes, and less than a client waits. */
    private static final long LOGIN_SECONDS = 10;
    private static final Pos SPAWN = new Pos(0, 40, 0);

    private final HubPlugin hub;
    private final MinestomPlatform platform;
    private final Instance field;

    MinestomListener(HubPlugin hub, MinestomPlatform platform, Instance field) {
        this.hub = hub;
        this.platform = platform;
        this.field = field;
    }

    void register(EventNode<Event> events) {
        events.addListener(AsyncPlayerPreLoginEvent.class, this::onLogin);
        events.addListener(AsyncPlayerConfigurationEvent.class, event -> {
            event.setSpawningInstance(field);
            event.getPlayer().setRespawnPoint(SPAWN);
        });
        events.addListener(PlayerSpawnEvent.class, event -> {
            if (event.isFirstSpawn()) joined(event.getPlayer());
        });
        events.addListener(PlayerDisconnectEvent.class, event -> left(event.getPlayer()));
        events.addListener(PlayerChatEvent.class, event -> {
            Player player = event.getPlayer();
            if (hub.takesChat(player.getUuid(), player.getUsername(), event.getRawMessage())) event.setCancelled(true);
        });
        freeze(events, InventoryPreClickEvent.class);
        freeze(events, ItemDropEvent.class);
        freeze(events, PlayerSwapItemEvent.class);
        freeze(events, PlayerUseItemEvent.class);
        freeze(events, PlayerBlockBreakEvent.class);
        freeze(events, PlayerBlockPlaceEvent.class);
        events.addListener(PickupItemEvent.class, event -> {
            if (event.getLivingEntity() instanceof Player player && hub.isFrozen(player.getUuid())) event.setCancelled(true);
        });
    }

    /** While a player's items are not here, they can change none. */
    private <E extends PlayerEvent & CancellableEvent> void freeze(EventNode<Event> events, Class<E> kind) {
        events.addListener(kind, event -> {
            if (hub.isFrozen(event.getPlayer().getUuid())) event.setCancelled(true);
        });
    }

    private void onLogin(AsyncPlayerPreLoginEvent event) {
        UUID player = event.getGameProfile().uuid();
        Verdict verdict = verdict(player, event.getGameProfile().name(), event.getConnection().getRemoteAddress());
        if (!verdict.isAllowed()) {
            event.getConnection().kick(MinestomTexts.of(verdict.text()));
        } else if (!replaces(player)) {
            event.getConnection().kick(MinestomTexts.of("<red>You are on this server already.</red>"));
        }
    }

    /** Minestom breaks with two players of one UUID: the one who is here, or is about to leave, goes first. */
    private boolean replaces(UUID player) {
        Player before = platform.player(player);
        if (before == null) return true;
        before.kick(MinestomTexts.of("<yellow>You joined from elsewhere.</yellow>"));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LOGIN_SECONDS);
        while (platform.player(player) != null && System.nanoTime() < deadline) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        return platform.player(player) == null;
    }

    private Verdict verdict(UUID player, String name, SocketAddress address) {
        String ip = address instanceof InetSocketAddress internet ? internet.getAddress().getHostAddress() : null;
        try {
            return hub.preLogin(player, name, ip).get(LOGIN_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            return new Verdict(hub.texts().get(player, "login.not-verified"));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return new Verdict(hub.texts().get(player, "login.not-verified"));
        }
    }

    private void joined(Player player) {
        platform.add(player);
        hub.joined(player.getUuid(), player.getUsername());
        player.sendMessage(MinestomTexts.of("<gray>Commands: /queue TYPE, /server, /lobby, /buy ITEM AMOUNT, /discard ITEM AMOUNT, /balance, /pay</gray>"));
    }

    /** Also called for those who never spawned. */
    private void left(Player player) {
        if (!platform.isHere(player)) return;
        hub.left(player.getUuid());
        platform.remove(player);
    }
}
