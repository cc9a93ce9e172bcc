package networkhub.plugin;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import networkhub.example.PrintingPlatform;
import org.junit.jupiter.api.Test;

/** The page for authors of further platforms shows what the code has. */
class PlatformsPageTest {
    private static final Path PAGE = Path.of("../../docs/connectors/platforms.md");

    @Test
    void tableIsTheCodes() throws Exception {
        List<String> rows = new ArrayList<>();
        rows.add("| | " + Arrays.stream(PlatformKind.values()).map(PlatformKind::title).collect(Collectors.joining(" | ")) + " |");
        for (Capability capability : Capability.values()) {
            rows.add("| " + capability.title() + " | " + Arrays.stream(PlatformKind.values())
                    .map(kind -> kind.can(capability) ? "yes" : "no").collect(Collectors.joining(" | ")) + " |");
        }
        List<String> page = Files.readAllLines(PAGE);
        for (String row : rows) assertTrue(page.contains(row), "the page lacks: " + row);
    }

    @Test
    void settingsOfAllPagesAreRead() throws Exception {
        Path folder = Files.createTempDirectory("network-hub-plugin");
        PluginConfig.read(folder, PlatformKind.PAPER, java.util.Map.of());
        String page = Files.readString(PAGE);
        for (String line : Files.readAllLines(folder.resolve("config.properties"))) {
            if (!line.matches("#?[a-z-]+=.*")) continue;
            String name = line.replaceAll("^#|=.*", "");
            assertTrue(page.contains("`" + name + "`"), "the page lacks the setting " + name);
        }
        for (String name : Settings.defaults().keySet()) assertTrue(page.contains("`" + name + "`"), "the page lacks " + name);
    }

    @Test
    void exampleJoinsTheHub() throws Exception {
        try (Network network = new Network()) {
            Path folder = Files.createTempDirectory("network-hub-example");
            Files.write(folder.resolve("config.properties"), List.of("url=" + network.hub.url(), "key=" + network.key));
            List<String> printed = new CopyOnWriteArrayList<>();
            PrintingPlatform platform = new PrintingPlatform(folder, printed::add);
            HubPlugin plugin = new HubPlugin(platform);
            plugin.start();
            eventually("the plugin is connected", () -> plugin.connection().orElseThrow().hub.status().isConnected());
            UUID player = UUID.randomUUID();
            plugin.preLogin(player, "jeb_", null).thenAccept(verdict -> {
                if (!verdict.isAllowed()) return;
                platform.players().put(player, "jeb_");
                plugin.joined(player, "jeb_");
            }).join();
            assertTrue(plugin.takesChat(player, "jeb_", "hello"));
            eventually("the line is printed", () -> printed.contains("to all: jeb_: hello"));
            plugin.stop();
        }
    }
}
