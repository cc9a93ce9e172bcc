package networkhub.platform;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import net.md_5.bungee.api.ServerPing;
import net.md_5.bungee.api.connection.PendingConnection;
import net.md_5.bungee.api.connection.ProxiedPlayer;
import net.md_5.bungee.api.event.AsyncEvent;
import net.md_5.bungee.api.event.LoginEvent;
import net.md_5.bungee.api.event.PermissionCheckEvent;
import net.md_5.bungee.api.event.PlayerDisconnectEvent;
import net.md_5.bungee.api.event.PostLoginEvent;
import net.md_5.bungee.api.event.ProxyPingEvent;
import net.md_5.bungee.api.event.ServerKickEvent;
import net.md_5.bungee.api.plugin.Listener;
import net.md_5.bungee.api.plugin.Plugin;
import net.md_5.bungee.event.EventHandler;
import net.md_5.bungee.event.EventPriority;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Route;
import networkhub.plugin.Status;

/** BungeeCord's events. A login is held by an intent, which is completed once, whatever happens. */
public final class BungeeListener implements Listener {
    private final Plugin plugin;
    private final HubPlugin hub;
    private final BungeePlatform platform;

    BungeeListener(Plugin plugin, HubPlugin hub, BungeePlatform platform) {
        this.plugin = plugin;
        this.hub = hub;
        this.platform = platform;
    }

    /** Holds an event until the work is done. */
    private void hold(AsyncEvent<?> event, Supplier<CompletableFuture<?>> work) {
        event.registerIntent(plugin);
        CompletableFuture<?> begun;
        try {
            begun = work.get();
        } catch (RuntimeException failure) {
            begun = CompletableFuture.failedFuture(failure);
        }
        begun.whenComplete((nothing, failure) -> event.completeIntent(plugin));
    }

    /** Checks bans and maintenance. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onLogin(LoginEvent event) {
        if (event.isCancelled()) return;
        PendingConnection player = event.getConnection();
        String address = player.getSocketAddress() instanceof InetSocketAddress socket && socket.getAddress() != null
                ? socket.getAddress().getHostAddress() : null;
        hold(event, () -> hub.preLogin(player.getUniqueId(), player.getName(), address).thenAccept(verdict -> {
            if (verdict.isAllowed()) return;
            event.setReason(BungeeTexts.of(verdict.text()));
            event.setCancelled(true);
        }));
    }

    /** A player is on the proxy; chooses their first server. */
    @EventHandler
    public void onJoin(PostLoginEvent event) {
        ProxiedPlayer player = event.getPlayer();
        hub.loginDecided(player.getUniqueId(), player.getName(), true);
        hub.joined(player.getUniqueId(), player.getName());
        if (!hub.routes()) return;
        hold(event, () -> hub.firstServer(player.getUniqueId(), player.getName()).thenAccept(route -> {
            if (route.server() != null) {
                event.setTarget(platform.server(route.server()));
            } else {
                player.disconnect(BungeeTexts.of(route.text()));
            }
        }));
    }

    /** A player left. */
    @EventHandler
    public void onLeave(PlayerDisconnectEvent event) {
        hub.left(event.getPlayer().getUniqueId());
    }

    /** Chooses another server for a player who would have none. The event cannot wait, so from what is known of the servers. */
    @EventHandler(priority = EventPriority.HIGH)
    public void onKick(ServerKickEvent event) {
        ProxiedPlayer player = event.getPlayer();
        boolean hasServer = event.getState() == ServerKickEvent.State.CONNECTING && player.getServer() != null;
        if (!hub.routes() || event.isCancelled() || hasServer) return;
        String ban = hub.banText(player.getUniqueId());
        if (ban != null) {
            event.setReason(BungeeTexts.of(ban));
            return;
        }
        Route route = hub.nextKnownServer(player.getUniqueId(), event.getKickedFrom().getName());
        if (route.server() == null) {
            event.setReason(BungeeTexts.of(route.text()));
        } else {
            event.setCancelServer(platform.server(route.server()));
            event.setCancelled(true);
        }
    }

    /** Answers permissions from memory. */
    @EventHandler
    public void onPermission(PermissionCheckEvent event) {
        if (!(event.getSender() instanceof ProxiedPlayer player)) return;
        Boolean allowed = hub.permission(player.getUniqueId(), event.getPermission());
        if (allowed != null) event.setHasPermission(allowed);
    }

    /** Shows the network in the clients' list of servers. */
    @EventHandler
    public void onPing(ProxyPingEvent event) {
        Status status = hub.status();
        ServerPing ping = event.getResponse();
        if (status == null || ping == null) return;
        ServerPing.Players players = ping.getPlayers();
        int max = status.maxPlayers() > 0 || players == null ? status.maxPlayers() : players.getMax();
        ping.setPlayers(new ServerPing.Players(max, status.players(), players == null ? null : players.getSample()));
        if (status.text() != null) ping.setDescriptionComponent(BungeeTexts.of(status.text()));
    }
}
