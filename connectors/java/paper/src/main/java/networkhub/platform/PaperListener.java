package networkhub.platform;

import io.papermc.paper.event.player.AsyncChatEvent;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Verdict;
import org.bukkit.entity.Player;
import org.bukkit.event.EventHandler;
import org.bukkit.event.EventPriority;
import org.bukkit.event.Listener;
import org.bukkit.event.player.AsyncPlayerPreLoginEvent;
import org.bukkit.event.player.AsyncPlayerPreLoginEvent.Result;
import org.bukkit.event.player.PlayerAdvancementDoneEvent;
import org.bukkit.event.player.PlayerCommandPreprocessEvent;
import org.bukkit.event.player.PlayerJoinEvent;
import org.bukkit.event.player.PlayerQuitEvent;

/** Paper's events. Bans are decided before a player logs in, on a thread of its own that may wait. */
public final class PaperListener implements Listener {
    /** More than the hub's answer ever takes, and less than a client waits. */
    private static final long LOGIN_SECONDS = 10;
    private static final Set<String> TALK =
            Set.of("me", "say", "msg", "tell", "w", "whisper", "r", "reply", "teammsg", "tm", "m", "pm", "mail");

    private final HubPlugin hub;
    private final PaperPermissions permissions;

    PaperListener(HubPlugin hub, PaperPermissions permissions) {
        this.hub = hub;
        this.permissions = permissions;
    }

    /** Checks bans and maintenance, and loads the player. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onLogin(AsyncPlayerPreLoginEvent event) {
        if (event.getLoginResult() != Result.ALLOWED) return;
        Verdict verdict = verdict(event);
        if (!verdict.isAllowed()) event.disallow(Result.KICK_OTHER, Components.of(verdict.text()));
    }

    private Verdict verdict(AsyncPlayerPreLoginEvent event) {
        try {
            return hub.preLogin(event.getUniqueId(), event.getName(), event.getAddress().getHostAddress())
                    .get(LOGIN_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            return new Verdict(hub.texts().get(event.getUniqueId(), "login.not-verified"));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return new Verdict(hub.texts().get(event.getUniqueId(), "login.not-verified"));
        }
    }

    /** Compares the decision of the other plugins, while the plugin only observes. */
    @EventHandler(priority = EventPriority.MONITOR)
    public void onLoginDecided(AsyncPlayerPreLoginEvent event) {
        if (hub.observes()) hub.loginDecided(event.getUniqueId(), event.getName(), event.getLoginResult() == Result.ALLOWED);
    }

    /** A player is in the game. Before other plugins, which ask for permissions. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onJoin(PlayerJoinEvent event) {
        Player player = event.getPlayer();
        if (hub.answersPermissions()) permissions.apply(player);
        hub.joined(player.getUniqueId(), player.getName());
    }

    /** A player leaves. */
    @EventHandler(priority = EventPriority.MONITOR)
    public void onQuit(PlayerQuitEvent event) {
        // Items on the cursor and in crafting fields belong to what is saved.
        if (hub.movesPlayerState()) event.getPlayer().closeInventory();
        hub.left(event.getPlayer().getUniqueId());
        permissions.remove(event.getPlayer().getUniqueId());
    }

    /** Advancements that a player brings along from another server are no news. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onAdvancement(PlayerAdvancementDoneEvent event) {
        if (PaperAdvancements.isGiving(event.getPlayer().getUniqueId())) event.message(null);
    }

    /** Stops lines of muted players, and sends the others through the hub. Cancelling is allowed here, also where they are signed. */
    @EventHandler(priority = EventPriority.HIGH, ignoreCancelled = true)
    public void onChat(AsyncChatEvent event) {
        Player player = event.getPlayer();
        String message = PlainTextComponentSerializer.plainText().serialize(event.message());
        if (hub.takesChat(player.getUniqueId(), player.getName(), message)) event.setCancelled(true);
    }

    /** Stops the commands with which muted players would talk. */
    @EventHandler(priority = EventPriority.LOW, ignoreCancelled = true)
    public void onCommand(PlayerCommandPreprocessEvent event) {
        String name = event.getMessage().substring(1).split(" ", 2)[0].toLowerCase(Locale.ROOT);
        if (TALK.contains(name.substring(name.indexOf(':') + 1)) && hub.isSilenced(event.getPlayer().getUniqueId())) {
            event.setCancelled(true);
        }
    }
}
