package networkhub.platform;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import networkhub.plugin.HubPlugin;
import org.bukkit.entity.Player;
import org.bukkit.permissions.Permission;
import org.bukkit.permissions.PermissionAttachment;
import org.bukkit.permissions.PermissionDefault;
import org.bukkit.plugin.Plugin;
import org.bukkit.plugin.PluginManager;

/**
 * The hub's permissions on Paper: for each player one generated node that has theirs as its children, so that a change is one
 * recalculation. Wildcards cover the nodes that plugins have registered. On the player's thread.
 */
final class PaperPermissions {
    private static final String PREFIX = "networkhub.player.";

    private record Given(Permission node, PermissionAttachment attachment) {}

    private final Plugin plugin;
    private final PluginManager manager;
    private final HubPlugin hub;
    private final Map<UUID, Given> given = new ConcurrentHashMap<>();

    PaperPermissions(PaperPlugin plugin, HubPlugin hub) {
        this.plugin = plugin;
        manager = plugin.getServer().getPluginManager();
        this.hub = hub;
    }

    /** Gives a player the permissions that the hub knows now; none where it does not answer them. */
    void apply(Player player) {
        UUID id = player.getUniqueId();
        Map<String, Boolean> nodes = nodes(id);
        Given known = given.get(id);
        if (nodes == null) {
            remove(id);
        } else if (known == null) {
            Permission node = new Permission(PREFIX + id, PermissionDefault.FALSE, nodes);
            manager.removePermission(node.getName());
            manager.addPermission(node);
            PermissionAttachment attachment = player.addAttachment(plugin);
            attachment.setPermission(node.getName(), true);
            given.put(id, new Given(node, attachment));
        } else {
            known.node.getChildren().clear();
            known.node.getChildren().putAll(nodes);
            known.node.recalculatePermissibles();
        }
        player.updateCommands();
    }

    private Map<String, Boolean> nodes(UUID player) {
        Map<String, Boolean> known = hub.permissions(player);
        if (known == null) return null;
        Map<String, Boolean> nodes = new HashMap<>();
        if (known.keySet().stream().anyMatch(node -> node.endsWith("*"))) {
            for (Permission registered : manager.getPermissions()) {
                String name = registered.getName();
                Boolean allowed = name.startsWith(PREFIX) ? null : hub.permission(player, name);
                if (allowed != null) nodes.put(name.toLowerCase(Locale.ROOT), allowed);
            }
        }
        known.forEach((node, allowed) -> nodes.put(node.toLowerCase(Locale.ROOT), allowed));
        return nodes;
    }

    /** Takes them from a player who leaves. */
    void remove(UUID player) {
        Given known = given.remove(player);
        if (known == null) return;
        known.attachment.remove();
        manager.removePermission(known.node.getName());
    }

    /** Takes them from everybody. */
    void clear() {
        given.keySet().forEach(this::remove);
    }
}
