package networkhub.plugin;

import java.util.UUID;
import java.util.function.Consumer;

/**
 * Sender of a command: a player or the console.
 *
 * @param player null for the console
 * @param output takes texts in MiniMessage, on any thread
 */
public record Sender(UUID player, String name, Consumer<String> output) {
    /** True for the console. */
    public boolean isConsole() {
        return player == null;
    }
}
