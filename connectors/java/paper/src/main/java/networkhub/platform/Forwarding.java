package networkhub.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import networkhub.plugin.Finding;

/**
 * The server's settings for players who come through a proxy.
 *
 * @param bungeecord whether spigot.yml has it
 * @param velocity whether paper-global.yml has it
 */
record Forwarding(boolean bungeecord, boolean velocity) {
    /** Reads the settings of a server's folder; what cannot be read is off. */
    static Forwarding read(Path folder) {
        return new Forwarding(
                isOn(folder.resolve("spigot.yml"), "settings", "bungeecord"),
                isOn(folder.resolve("config/paper-global.yml"), "proxies", "velocity", "enabled"));
    }

    boolean isOn() {
        return bungeecord || velocity;
    }

    Finding finding(boolean isProxied, boolean isOnlineMode) {
        if (isProxied && isOnlineMode) {
            return Finding.problem("forwarding", "players come through a proxy, but this server asks Mojang, too: set online-mode=false in "
                    + "server.properties, and let nobody but the proxy reach its port");
        }
        if (isProxied && !isOn()) {
            return Finding.problem("forwarding", "players come through a proxy that cannot tell who they are: set proxies.velocity.enabled in "
                    + "config/paper-global.yml, or settings.bungeecord in spigot.yml, and the same at the proxy");
        }
        if (!isProxied && !isOnlineMode) {
            return Finding.note("forwarding", "offline mode without a proxy: anybody can join under any name, and bans hold for nobody");
        }
        return Finding.ok("forwarding", isProxied ? "players come through a proxy" : "players come directly");
    }

    /** Finds a key by its indentation, which is all that these files need. */
    private static boolean isOn(Path file, String... path) {
        try {
            List<String> lines = Files.readAllLines(file);
            int depth = 0;
            int[] indents = new int[path.length];
            for (String line : lines) {
                String text = line.strip();
                int indent = line.length() - line.stripLeading().length();
                if (text.isEmpty() || text.startsWith("#")) continue;
                while (depth > 0 && indent <= indents[depth - 1]) depth--;
                if (!text.startsWith(path[depth] + ":") || depth == 0 && indent > 0) continue;
                if (depth == path.length - 1) return text.substring(path[depth].length() + 1).strip().equals("true");
                indents[depth++] = indent;
            }
            return false;
        } catch (IOException missing) {
            return false;
        }
    }
}
