package networkhub.plugin;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import networkhub.model.LanguageSource;
import networkhub.model.PermissionNodeInput;
import networkhub.model.PunishmentKind;
import networkhub.model.ServerRole;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HubPluginTest {
    private static Network network;

    private final UUID player = UUID.randomUUID();
    private final String name = "player" + player.toString().substring(0, 6);

    @BeforeAll
    static void startHub() throws Exception {
        network = new Network();
    }

    @AfterAll
    static void stopHub() throws Exception {
        network.close();
    }

    @AfterEach
    void stopServers() {
        network.stopServers();
    }

    private String place() {
        return network.hub.client().players().get(player, null).join()
                .map(profile -> profile.connection() == null ? "none" : profile.connection().serverId()).orElse("unknown");
    }

    @Test
    void gameServerIsListedAndReportsItsPlayers() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER, "server-id=listed", "type=lobby");
        var listed = network.hub.client().servers().list(null, true, "listed", 0, 10).join().items().get(0);
        assertEquals("lobby", listed.serverType());
        assertEquals(ServerRole.GAME, listed.role());
        assertEquals("Paper", listed.platform().name());
        server.join(player, name);
        eventually("the player is there", () -> place().equals("listed"));
        server.plugin().left(player);
        eventually("the player has left", () -> place().equals("none"));
    }

    @Test
    void proxyReportsNoPlayersAndKnowsTheGameServers() throws Exception {
        network.server(PlatformKind.PAPER, "server-id=game-1", "type=lobby", "host=192.0.2.9");
        Network.Server proxy = network.server(PlatformKind.VELOCITY, "server-id=proxy-1");
        eventually("the game server is known", () -> proxy.platform().servers.stream()
                .anyMatch(server -> server.id().equals("game-1") && server.host().equals("192.0.2.9") && server.port() == 25565));
        proxy.join(player, name);
        network.server(PlatformKind.PAPER, "server-id=game-2", "type=lobby");
        eventually("a later one is known, too", () -> proxy.platform().servers.stream().anyMatch(server -> server.id().equals("game-2")));
        assertEquals("none", place());
        assertTrue(proxy.platform().servers.stream().noneMatch(server -> server.id().equals("proxy-1")));
    }

    @Test
    void bannedPlayerIsRefusedInTheirLanguage() throws Exception {
        Network.Server server = network.server(PlatformKind.VELOCITY);
        network.hub.manage("PUT", "/api/manage/localization/locales/de", Map.of("displayName", "Deutsch"));
        assertTrue(server.plugin().preLogin(player, name, "192.0.2.7").join().isAllowed());
        network.hub.client().localization().setLanguage(player, "de", LanguageSource.PLAYER, name).join();
        network.punish(PunishmentKind.BAN, player, name, "<b>fly</b>");
        Verdict verdict = server.plugin().preLogin(player, name, "192.0.2.7").join();
        assertFalse(verdict.isAllowed());
        assertTrue(verdict.text().contains("ausgeschlossen"), verdict.text());
        assertTrue(verdict.text().contains("\\<b>fly"), verdict.text());
        assertTrue(verdict.text().matches("(?s).*Für einen Einspruch: <white>[^<]+</white>.*"), verdict.text());
    }

    @Test
    void banRemovesPlayerFromProxyAndGameServer() throws Exception {
        Network.Server proxy = network.server(PlatformKind.VELOCITY);
        Network.Server game = network.server(PlatformKind.FOLIA);
        proxy.join(player, name);
        game.join(player, name);
        network.punish(PunishmentKind.BAN, player, name, "fly");
        eventually("both remove the player",
                () -> proxy.platform().kicked.containsKey(player) && game.platform().kicked.containsKey(player));
        assertTrue(game.platform().kicked.get(player).contains("fly"));
    }

    @Test
    void permissionsAreTheHubs() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER, "type=arena");
        server.join(player, name);
        assertNull(server.plugin().permission(player, "kit.gold"));
        network.hub.client().permissions().add(player,
                PermissionNodeInput.builder().node("kit.gold").value(true).context("server=arena").build()).join();
        eventually("the permission is there", () -> Boolean.TRUE.equals(server.plugin().permission(player, "kit.gold")));
        assertTrue(server.platform().changed.contains(player));
        assertEquals(true, server.plugin().permissions(player).get("kit.gold"));
    }

    @Test
    void otherPluginsAreLeftAlone() throws Exception {
        FakePlatform platform = new FakePlatform(PlatformKind.PAPER, "url=" + network.hub.url(), "key=" + network.key);
        platform.plugins = Set.of("luckperms", "LiteBans");
        Network.Server server = network.started(platform);
        network.hub.client().permissions().add(player, PermissionNodeInput.builder().node("kit.gold").value(true).build()).join();
        network.punish(PunishmentKind.BAN, player, name, "fly");
        assertTrue(server.plugin().preLogin(player, name, "192.0.2.7").join().isAllowed());
        assertNull(server.plugin().permission(player, "kit.gold"));
        List<String> names = server.plugin().commands().stream().map(HubCommand::name).toList();
        assertFalse(names.contains("ban"), names.toString());
        assertTrue(names.contains("find"), names.toString());
        String findings = new Doctor(platform, server.plugin().connection().orElseThrow()).run().join().toString();
        assertTrue(findings.contains("left to LuckPerms") && findings.contains("left to LiteBans"), findings);
    }

    @Test
    void observingPluginChangesNothingAndReportsDifferences() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER, "mode=observe", "permissions=on", "punishments=on");
        UUID other = UUID.randomUUID();
        network.hub.client().permissions().add(player, PermissionNodeInput.builder().node("kit.gold").value(true).build()).join();
        network.punish(PunishmentKind.BAN, player, name, "fly");
        assertTrue(server.plugin().preLogin(player, name, "192.0.2.7").join().isAllowed());
        assertTrue(server.plugin().preLogin(other, "other", "192.0.2.8").join().isAllowed());
        server.plugin().loginDecided(player, name, true);
        server.plugin().loginDecided(other, "other", false);
        server.platform().online.put(player, name);
        server.plugin().joined(player, name);
        eventually("all differences are counted", () -> {
            String report = String.join("\n", server.plugin().differences());
            return report.contains("1 logins that only the hub would refuse:\n  " + name)
                    && report.contains("1 logins that only the server refused:\n  other")
                    && report.contains("permissions that only the hub allows:\n  " + name + " kit.gold")
                    && report.contains("players that the hub would have removed");
        });
        assertNull(server.plugin().permission(player, "kit.gold"));
        assertFalse(server.plugin().takesChat(player, name, "hello"));
        assertTrue(server.platform().kicked.isEmpty());
        assertEquals(List.of("hub"), server.plugin().commands().stream().map(HubCommand::name).toList());
        server.plugin().stop();
        assertTrue(java.nio.file.Files.readString(server.platform().folder().resolve("observe.log")).contains("kit.gold"));
    }

    @Test
    void loginsOfWhichNothingMoreIsHeardAreForgotten() throws Exception {
        Network.Server server = network.started(new FakePlatform(PlatformKind.BUNGEECORD, "url=http://127.0.0.1:1", "key=hub_key",
                "mode=observe", "allow-unverified=true"));
        List<UUID> players = Stream.generate(UUID::randomUUID).limit(HubPlugin.OBSERVED_LOGINS + 1).toList();
        players.forEach(each -> server.plugin().preLogin(each, "bot", null).join());
        server.plugin().loginDecided(players.get(players.size() - 1), "bot", true);
        eventually("the last one is compared", () -> server.plugin().differences().get(0).startsWith("1 answers"));
        server.plugin().loginDecided(players.get(0), "bot", true);
        assertTrue(server.plugin().differences().get(0).startsWith("1 answers"), server.plugin().differences().get(0));
    }

    @Test
    void commandsOfAPluginThatBeginsToObserveDoNothing() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER);
        HubCommand ban = server.command("ban");
        java.nio.file.Path file = server.platform().folder().resolve("config.properties");
        java.nio.file.Files.writeString(file, java.nio.file.Files.readString(file) + "\nmode=observe\n");
        server.plugin().reload();
        List<String> answers = new java.util.concurrent.CopyOnWriteArrayList<>();
        ban.run(server.plugin().console(answers::add), new String[] {name});
        assertTrue(answers.get(0).contains("only observes"), answers.toString());
    }

    @Test
    void playerWhoJoinsDuringAReloadIsReported() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER, "server-id=reloaded");
        server.platform().afterPlayers.set(() -> {
            server.platform().online.put(player, name);
            server.plugin().joined(player, name);
        });
        server.plugin().reload();
        eventually("the player is there", () -> place().equals("reloaded"));
    }

    @Test
    void mutedPlayerCannotChatAndOthersChatOnAllServers() throws Exception {
        Network.Server here = network.server(PlatformKind.PAPER);
        Network.Server there = network.server(PlatformKind.PAPER);
        here.join(player, name);
        assertTrue(here.plugin().takesChat(player, name, "hello <red>there"));
        eventually("the line is on both servers", () -> there.platform().broadcast.stream().anyMatch(line ->
                line.contains(name) && line.endsWith("hello \\<red>there")) && here.platform().broadcast.size() == 1);
        network.punish(PunishmentKind.MUTE, player, name, "spam");
        eventually("the player is told", () -> here.platform().sent.stream().anyMatch(text -> text.contains("You were muted")));
        assertTrue(here.plugin().takesChat(player, name, "again"));
        assertTrue(here.platform().sent.stream().anyMatch(text -> text.contains("You are muted") && text.contains("spam")));
        assertEquals(1, here.platform().broadcast.size());
    }

    @Test
    void addressOfAProxyIsNotThePlayers() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER);
        server.plugin().preLogin(player, name, "127.0.0.1").join();
        UUID other = UUID.randomUUID();
        server.plugin().preLogin(other, "other", "192.0.2.7").join();
        eventually("the other's address is recorded", () -> network.hub.client().players().ips(other).join().size() == 1);
        assertEquals(List.of(), network.hub.client().players().ips(player).join());
    }

    @Test
    void networksOwnTextsReplaceThePlugins() throws Exception {
        Network.Server server = network.server(PlatformKind.PAPER);
        network.hub.manage("PUT", "/api/manage/localization/messages/en/network-hub/command.players-only", Map.of("value", "Nope."));
        eventually("the network's text is used", () -> server.plugin().texts().get(null, "command.players-only").equals("Nope."));
    }

    @Test
    void pluginWithoutKeyIsQuiet() throws Exception {
        FakePlatform platform = new FakePlatform(PlatformKind.VELOCITY);
        java.nio.file.Files.delete(platform.folder().resolve("config.properties"));
        platform.plugins = Set.of("LiteBans");
        Network.Server server = network.started(platform);
        assertTrue(server.plugin().preLogin(player, name, null).join().isAllowed());
        assertFalse(server.plugin().routes());
        assertNull(server.plugin().status());
        assertTrue(server.plugin().commands().stream().noneMatch(command -> command.name().equals("ban")), "LiteBans keeps its command");
        assertEquals(1, platform.log.size());
        java.nio.file.Path file = platform.folder().resolve("config.properties");
        String written = java.nio.file.Files.readString(file);
        assertTrue(written.contains("\nurl=\nkey=\n"), written);
        java.nio.file.Files.writeString(file, "url=" + network.hub.url() + "\nkey=" + network.key);
        server.run(server.plugin().console(text -> { }), "hub", "reload");
        eventually("the plugin is connected", () -> server.plugin().connection().filter(made -> made.hub.status().isConnected()).isPresent());
    }

    @Test
    void doctorNamesWhatIsWrong() throws Exception {
        Network.Server healthy = network.server(PlatformKind.PAPER);
        eventually("all is well", () -> new Doctor(healthy.platform(), healthy.plugin().connection().orElseThrow()).run().join().stream()
                .noneMatch(finding -> finding.level() == Finding.Level.PROBLEM));
        Network.Server wrongKey = network.started(new FakePlatform(PlatformKind.PAPER, "url=" + network.hub.url(), "key=hub_wrong_key"));
        Network.Server wrongUrl = network.started(new FakePlatform(PlatformKind.PAPER, "url=hub.example", "key=hub_wrong_key"));
        assertTrue(wrongUrl.platform().log.get(0).startsWith("The settings are wrong: the hub's address must begin with"));
        Network.Server nobody = network.started(new FakePlatform(PlatformKind.PAPER, "url=http://127.0.0.1:1", "key=hub_wrong_key"));
        assertTrue(problems(wrongKey).contains("key: refused. Check key in config.properties"), problems(wrongKey));
        assertTrue(problems(nobody).contains("hub: not reachable"), problems(nobody));
        assertTrue(problems(withKey(Map.of("name", "bound", "scopes", List.of("plugin"), "servers", List.of("other"))))
                .contains("key: This key is not valid for this server. Set server-id to one that it is bound to"));
        assertTrue(problems(withKey(Map.of("name", "reader", "scopes", List.of("events:read")))).contains("The key needs the scope plugin"));
    }

    @Test
    void doctorNamesAnIdThatIsTaken() throws Exception {
        Network.Server first = network.server(PlatformKind.PAPER, "server-id=twin");
        // An answer that a loaded machine gives too late is another finding.
        eventually("the id is free", () -> doctor(first).contains("server-id, detail=twin]"));
        eventually("the first one is online for longer than the clocks may differ", () -> {
            long startedAt = network.hub.client().servers().list(null, true, "twin", 0, 10).join().items().get(0).live().startedAt();
            return first.plugin().connection().orElseThrow().hub.hubTime().join() - startedAt > 2 * Doctor.SLACK_MS;
        });
        Network.Server second = network.server(PlatformKind.PAPER, "server-id=twin");
        eventually("the id is taken", () -> doctor(second).contains("twin was online already"));
    }

    private static Network.Server withKey(Map<String, Object> key) throws Exception {
        String made = network.hub.manage("POST", "/api/manage/keys", key).get("apiKey").getAsString();
        return network.started(new FakePlatform(PlatformKind.PAPER, "url=" + network.hub.url(), "key=" + made, "server-id=bound"));
    }

    private static String doctor(Network.Server server) {
        return new Doctor(server.platform(), server.plugin().connection().orElseThrow()).run().join().toString();
    }

    private static String problems(Network.Server server) {
        StringBuilder problems = new StringBuilder();
        for (Finding finding : new Doctor(server.platform(), server.plugin().connection().orElseThrow()).run().join()) {
            if (finding.level() == Finding.Level.PROBLEM) problems.append(finding.subject() + ": " + finding.detail() + "\n");
        }
        return problems.toString();
    }

    @Test
    void consoleCommandsOfTheHubAreRun() throws Exception {
        network.server(PlatformKind.PAPER, "server-id=console-1");
        var answer = network.hub.manage("POST", "/api/manage/servers/console-1/command", Map.of("command", "list"));
        assertEquals("ran list", answer.get("output").getAsString());
    }
}
