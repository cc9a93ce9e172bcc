package networkhub.platform;

import com.velocitypowered.api.event.EventTask;
import com.velocitypowered.api.event.PostOrder;
import com.velocitypowered.api.event.ResultedEvent.ComponentResult;
import com.velocitypowered.api.event.Subscribe;
import com.velocitypowered.api.event.connection.DisconnectEvent;
import com.velocitypowered.api.event.connection.DisconnectEvent.LoginStatus;
import com.velocitypowered.api.event.connection.LoginEvent;
import com.velocitypowered.api.event.connection.PostLoginEvent;
import com.velocitypowered.api.event.permission.PermissionsSetupEvent;
import com.velocitypowered.api.event.player.KickedFromServerEvent;
import com.velocitypowered.api.event.player.KickedFromServerEvent.DisconnectPlayer;
import com.velocitypowered.api.event.player.KickedFromServerEvent.RedirectPlayer;
import com.velocitypowered.api.event.player.PlayerChooseInitialServerEvent;
import com.velocitypowered.api.event.proxy.ProxyPingEvent;
import com.velocitypowered.api.permission.Tristate;
import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.server.ServerPing;
import java.util.concurrent.CompletableFuture;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Status;
import networkhub.plugin.Verdict;

/** Velocity's events. A handler that returns a task holds the player's login until the task is done, which never takes long. */
public final class VelocityListener {
    private static final CompletableFuture<?> NOTHING = CompletableFuture.completedFuture(null);

    private final HubPlugin hub;
    private final VelocityPlatform platform;

    VelocityListener(HubPlugin hub, VelocityPlatform platform) {
        this.hub = hub;
        this.platform = platform;
    }

    /** Answers permissions from memory, at each question: they are set up before the login is checked. */
    @Subscribe(order = PostOrder.LATE)
    public void onPermissions(PermissionsSetupEvent event) {
        if (!hub.answersPermissions() || !(event.getSubject() instanceof Player player)) return;
        event.setProvider(subject -> node -> {
            Boolean allowed = hub.permission(player.getUniqueId(), node);
            return allowed == null ? Tristate.UNDEFINED : allowed ? Tristate.TRUE : Tristate.FALSE;
        });
    }

    /** Checks bans and maintenance. */
    @Subscribe(order = PostOrder.FIRST)
    public EventTask onLogin(LoginEvent event) {
        Player player = event.getPlayer();
        String address = player.getRemoteAddress().getAddress() == null ? null : player.getRemoteAddress().getAddress().getHostAddress();
        return EventTask.resumeWhenComplete(hub.preLogin(player.getUniqueId(), player.getUsername(), address)
                .thenAccept(verdict -> refuse(event, verdict)));
    }

    private static void refuse(LoginEvent event, Verdict verdict) {
        if (!verdict.isAllowed()) event.setResult(ComponentResult.denied(Components.of(verdict.text())));
    }

    /** Compares the decision of the other plugins, while the plugin only observes. */
    @Subscribe(order = PostOrder.LAST)
    public void onLoginDecided(LoginEvent event) {
        if (!hub.observes()) return;
        hub.loginDecided(event.getPlayer().getUniqueId(), event.getPlayer().getUsername(), event.getResult().isAllowed());
    }

    /** A player is on the proxy. */
    @Subscribe
    public void onJoin(PostLoginEvent event) {
        hub.joined(event.getPlayer().getUniqueId(), event.getPlayer().getUsername());
    }

    /** A player left; a second login of a player that fails carries the UUID of the one who is on. */
    @Subscribe
    public void onLeave(DisconnectEvent event) {
        LoginStatus status = event.getLoginStatus();
        if (status != LoginStatus.SUCCESSFUL_LOGIN && status != LoginStatus.PRE_SERVER_JOIN) return;
        hub.left(event.getPlayer().getUniqueId());
    }

    /** Chooses a player's first server. */
    @Subscribe(order = PostOrder.LATE)
    public EventTask onFirstServer(PlayerChooseInitialServerEvent event) {
        if (!hub.routes()) return EventTask.resumeWhenComplete(NOTHING);
        Player player = event.getPlayer();
        return EventTask.resumeWhenComplete(hub.firstServer(player.getUniqueId(), player.getUsername()).thenAccept(route -> {
            if (route.server() != null) {
                event.setInitialServer(platform.server(route.server()));
            } else {
                event.setInitialServer(null);
                player.disconnect(Components.of(route.text()));
            }
        }));
    }

    /** Chooses another server for a player who would have none. */
    @Subscribe(order = PostOrder.LATE)
    public EventTask onKick(KickedFromServerEvent event) {
        Player player = event.getPlayer();
        boolean hasServer = event.kickedDuringServerConnect() && player.getCurrentServer().isPresent();
        if (!hub.routes() || hasServer) return EventTask.resumeWhenComplete(NOTHING);
        String ban = hub.banText(player.getUniqueId());
        if (ban != null) {
            event.setResult(DisconnectPlayer.create(Components.of(ban)));
            return EventTask.resumeWhenComplete(NOTHING);
        }
        String failed = event.getServer().getServerInfo().getName();
        return EventTask.resumeWhenComplete(hub.nextServer(player.getUniqueId(), player.getUsername(), failed).thenAccept(route ->
                event.setResult(route.server() == null
                        ? DisconnectPlayer.create(Components.of(route.text()))
                        : RedirectPlayer.create(platform.server(route.server()),
                                Components.of(hub.texts().get(player.getUniqueId(), "route.moved"))))));
    }

    /** Shows the network in the clients' list of servers. */
    @Subscribe
    public void onPing(ProxyPingEvent event) {
        Status status = hub.status();
        if (status == null) return;
        ServerPing.Builder ping = event.getPing().asBuilder().onlinePlayers(status.players());
        if (status.maxPlayers() > 0) ping.maximumPlayers(status.maxPlayers());
        if (status.text() != null) ping.description(Components.of(status.text()));
        event.setPing(ping.build());
    }
}
