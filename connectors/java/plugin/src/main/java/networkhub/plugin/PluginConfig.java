package networkhub.plugin;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;

/**
 * Settings of one server, from {@code config.properties} in the plugin's folder. The address and the key are enough; the environment's
 * {@code HUB_URL} and {@code HUB_KEY} win over the file, {@code HUB_SERVER_ID} and {@code HUB_SERVER_TYPE} stand in for what it leaves out.
 * Settings of the whole network are in {@link Settings}.
 *
 * @param url null if it is not set
 * @param key null if it is not set
 * @param host address for players; null leaves it to the hub
 * @param region region of this server and of the players whom it sends on; null leaves it open
 * @param observes true if the plugin changes nothing and reports differences
 * @param allowUnverified true if players may join of whom nothing is known while the hub is away
 * @param permissions whether the hub answers permissions
 * @param punishments whether the hub's bans and mutes are enforced
 * @param proxied whether players come through a proxy
 * @param economy whether plugins get the hub's money through Vault
 * @param placeholders whether PlaceholderAPI shows values of the hub
 * @param playerData parts of the players' state that move with them, such as {@code items}
 * @param dataGroup servers of one group share it
 */
public record PluginConfig(String url, String key, String serverId, String type, String host, String region, boolean observes,
        boolean allowUnverified, Choice permissions, Choice punishments, Choice proxied, Choice economy, Choice placeholders,
        List<String> playerData, String dataGroup) {
    /** Value of a setting that the plugin can find out itself. */
    public enum Choice {
        /** The plugin finds out. */
        AUTO,
        /** Yes. */
        ON,
        /** No. */
        OFF;

        /** The choice, where the plugin has found this out. */
        public boolean orElse(boolean found) {
            return this == AUTO ? found : this == ON;
        }
    }

    private static final String TEMPLATE = """
            # Network Hub. These two are needed; changes take effect with /hub reload.
            url=
            key=

            # Optional: id and type of this server at the hub, its address for players, and its region, such as EUROPE.
            #server-id=
            #type=
            #host=
            #region=
            # observe: changes nothing, and reports where the hub would have answered otherwise.
            #mode=active
            # true: players join of whom nothing is known while the hub is away; bans fail open.
            #allow-unverified=false
            # auto, on or off. auto: off if another plugin does it.
            #permissions=auto
            #punishments=auto
            # auto, on or off, on game servers: players come through a proxy.
            #proxy=auto
            # auto, on or off, on Paper: money through Vault, values for PlaceholderAPI. auto: on if they are there and no other plugin has money.
            #economy=auto
            #placeholders=auto
            # Parts that move with players between servers, on Paper: items, ender-chest, health, food, experience, effects, statistics,
            # advancements. Blank: nothing.
            #player-data=
            # Servers of the same group share it.
            #player-data-group=global
            """;

    /** Reads the settings of a folder, and writes a file to be filled in where there is none. */
    public static PluginConfig read(Path folder, PlatformKind kind, Map<String, String> environment) {
        Properties file = new Properties();
        Path path = folder.resolve("config.properties");
        try {
            Files.createDirectories(folder);
            if (Files.notExists(path)) Files.writeString(path, TEMPLATE);
            try (Reader reader = Files.newBufferedReader(path)) {
                file.load(reader);
            }
            String id = first(file.getProperty("server-id"), environment.get("HUB_SERVER_ID"));
            return new PluginConfig(
                    first(environment.get("HUB_URL"), file.getProperty("url")),
                    first(environment.get("HUB_KEY"), file.getProperty("key")),
                    id != null ? id : ownId(folder, kind),
                    first(file.getProperty("type"), environment.get("HUB_SERVER_TYPE"), kind.isProxy() ? "proxy" : "game"),
                    first(file.getProperty("host")),
                    first(file.getProperty("region")),
                    "observe".equals(first(file.getProperty("mode"))),
                    "true".equals(first(file.getProperty("allow-unverified"))),
                    choice(file, "permissions"), choice(file, "punishments"), choice(file, "proxy"),
                    choice(file, "economy"), choice(file, "placeholders"), list(file.getProperty("player-data")),
                    first(file.getProperty("player-data-group"), "global"));
        } catch (IOException failure) {
            throw new UncheckedIOException("The settings cannot be read: " + failure.getMessage(), failure);
        }
    }

    /** True if there is an address and a key. */
    public boolean isComplete() {
        return url != null && key != null;
    }

    private static List<String> list(String value) {
        return value == null ? List.of() : Arrays.stream(value.split("[,\\s]+")).filter(each -> !each.isBlank()).distinct().toList();
    }

    private static Choice choice(Properties file, String name) {
        String value = first(file.getProperty(name), "auto");
        return switch (value) {
            case "on", "true" -> Choice.ON;
            case "off", "false" -> Choice.OFF;
            default -> Choice.AUTO;
        };
    }

    /** The id that is made once for this folder. */
    private static String ownId(Path folder, PlatformKind kind) throws IOException {
        Path path = folder.resolve("server-id");
        if (Files.notExists(path)) {
            Files.writeString(path, kind.name().toLowerCase(java.util.Locale.ROOT) + "-" + UUID.randomUUID().toString().substring(0, 8));
        }
        return Files.readString(path).trim();
    }

    private static String first(String... values) {
        for (String value : values) {
            if (value != null && !value.isBlank()) return value.trim();
        }
        return null;
    }
}
