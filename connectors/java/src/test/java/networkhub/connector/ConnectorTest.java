package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.HubProcess;
import networkhub.ServerState;
import networkhub.Requests;
import networkhub.model.LanguageSource;
import networkhub.model.Match;
import networkhub.model.OpenedWorld;
import networkhub.model.PermissionGroupUpdate;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import networkhub.model.ServerConnectivity;
import networkhub.model.ServerRegistration;
import networkhub.model.TransferOutcome;
import networkhub.model.WorldBootOrder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ConnectorTest {
    private static HubProcess hub;
    private static HubClient owner;
    private static int servers;

    private final List<HubConnector> connectors = new ArrayList<>();
    private final FakeGame game = new FakeGame();
    private final UUID player = UUID.randomUUID();

    @BeforeAll
    static void startHub() throws Exception {
        hub = new HubProcess();
        owner = hub.client();
    }

    @AfterAll
    static void stopHub() throws Exception {
        hub.close();
    }

    @AfterEach
    void stopConnectors() throws Exception {
        for (HubConnector connector : connectors) connector.stop().get(60, TimeUnit.SECONDS);
        game.close();
    }

    private ConnectorOptions server(String type, GameServer game) {
        ServerRegistration info = Requests.server(type + "-" + servers++, type).maxPlayers(10).build();
        return HubConnector.builder(hub.client(), info, game).joinTimeout(Duration.ofSeconds(60));
    }

    private HubConnector start(ConnectorOptions options) throws Exception {
        HubConnector connector = options.connector();
        connectors.add(connector);
        connector.start();
        eventually("the connector is connected", () -> connector.status().isConnected());
        return connector;
    }

    private void join(HubConnector connector, UUID player, String name) throws Exception {
        assertTrue(connector.checkJoin(player, name, null).join().allowed());
        connector.playerJoined(player, name);
        eventually("the player is online", () -> owner.players().get(player, null).join().orElseThrow().online());
    }

    @Test
    void aServerIsOnlineWithItsStateAndPlayers() throws Exception {
        HubConnector connector = start(server("state", game));
        join(connector, player, "Ann");
        connector.setState(new ServerState("PLAYING", 4, List.of()));
        eventually("the state is known", () -> "PLAYING".equals(
                owner.servers().list("state", true, null, 0, 1).join().items().get(0).live().gameState()));
        assertEquals(ServerConnectivity.CONNECTED, owner.servers().list("state", true, null, 0, 1).join().items().get(0).connectivity());
        connector.playerLeft(player);
        eventually("the player has left", () -> !owner.players().get(player, null).join().orElseThrow().online());
        connector.stop().get(60, TimeUnit.SECONDS);
        assertEquals(0, owner.servers().list("state", true, null, 0, 1).join().total());
    }

    @Test
    void aPlayerIsFoundAPlaceAndSentThere() throws Exception {
        HubConnector lobby = start(server("lobby", game));
        try (FakeGame targetGame = new FakeGame()) {
            HubConnector target = start(server("arena", targetGame));
            join(lobby, player, "Ben");
            Match match = lobby.client().matchmaking().find(Requests.match("arena", player, "Ben").build()).join();
            assertTrue(match.success());
            TransferOutcome outcome = lobby.transfer(player, match.matchedServer().serverId(), null).join();
            assertTrue(outcome.success());
            assertEquals(match.transferId(), outcome.transferId());
            eventually("the command was carried out", () -> game.transfers.size() == 1);
            assertEquals("10.0.0.1", game.transfers.get(0).host());
            assertNotSame(Thread.currentThread(), game.threads.get(0));
            lobby.playerLeft(player);
            target.playerJoined(player, "Ben");
            eventually("the transfer has ended", () -> "SUCCESS".equals(
                    hub.manage("GET", "/api/manage/transfers/" + outcome.transferId(), null).get("result").getAsString()));
            assertEquals(match.matchedServer().serverId(),
                    owner.players().get(player, null).join().orElseThrow().connection().serverId());
            // Handed on, it is refused: this verifier has not used it, another time it has.
            assertEquals(null, target.transferVerifier().refusal(game.transfers.get(0), target.hubTime().join()));
            assertEquals("the command was used already",
                    target.transferVerifier().refusal(game.transfers.get(0), target.hubTime().join()));
        }
    }

    @Test
    void aTransferThatCannotBeIsReported() throws Exception {
        HubConnector lobby = start(server("from", game));
        HubConnector target = start(server("to", game));
        join(lobby, player, "Cat");
        game.refusesTransfers = true;
        String server = owner.servers().list("to", true, null, 0, 1).join().items().get(0).serverId();
        TransferOutcome outcome = target.transfer(player, server, null).join();
        eventually("the failure is reported", () -> {
            JsonObject record = hub.manage("GET", "/api/manage/transfers/" + outcome.transferId(), null);
            return record.get("result").getAsString().equals("FAILED")
                    && record.get("errorMessage").getAsString().equals("the player is in a cutscene");
        });
    }

    @Test
    void signaturesAreGoodWhileTheSecretIsRotated() throws Exception {
        HubConnector from = start(server("rotate-from", game));
        start(server("rotate-to", game));
        String target = owner.servers().list("rotate-to", true, null, 0, 1).join().items().get(0).serverId();
        List<String> rotated = new CopyOnWriteArrayList<>();
        from.on("SIGNING_SECRET_ROTATED", event -> rotated.add(event.text("signingSecret")));
        join(from, player, "Dan");
        hub.manage("POST", "/api/manage/signing-secret/rotate", Map.of("overlapMs", 60_000));
        from.transfer(player, target, null).join();
        eventually("a command with two signatures is carried out", () -> game.transfers.size() == 1);
        assertEquals(2, game.transfers.get(0).signature().split(" ").length);
        eventually("the new secret is known", () -> rotated.size() == 1);
        // Signed with the new secret alone: whoever kept the old one would refuse it.
        hub.manage("POST", "/api/manage/signing-secret/rotate", Map.of("overlapMs", 0));
        eventually("the newest secret is known", () -> rotated.size() == 2);
        from.transfer(player, target, null).join();
        eventually("a command with the new signature is carried out", () -> game.transfers.size() == 2);
        assertEquals(1, game.transfers.get(1).signature().split(" ").length);
        assertEquals(TransferVerifier.sign(rotated.get(1), text(game)), game.transfers.get(1).signature());
    }

    private static String text(FakeGame game) {
        var command = game.transfers.get(1);
        return String.join(".", command.transferId().toString(), command.playerUuid().toString(), command.targetServerId(), "",
                command.host(), Integer.toString(command.port()), Long.toString(command.expiresAt()));
    }

    @Test
    void aConsoleCommandIsRunAndAnswered() throws Exception {
        HubConnector connector = start(server("console", game));
        String path = "/api/manage/servers/" + owner.servers().list("console", true, null, 0, 1).join().items().get(0).serverId()
                + "/command";
        JsonObject ran = hub.manage("POST", path, Map.of("command", "say hi"));
        assertTrue(ran.get("success").getAsBoolean());
        assertEquals("ran say hi", ran.get("output").getAsString());
        assertEquals("no such command", hub.manage("POST", path, Map.of("command", "fail")).get("error").getAsString());
        assertTrue(connector.status().isConnected());
    }

    @Test
    void aCommandThatTheMainThreadCannotGetToIsNeverRunLate() throws Exception {
        HubConnector connector = start(server("busy", game));
        String path = "/api/manage/servers/" + owner.servers().list("busy", true, null, 0, 1).join().items().get(0).serverId()
                + "/command";
        CountDownLatch stuck = new CountDownLatch(1);
        game.runOnMainThread(() -> {
            try {
                stuck.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        eventually("the connector says that it was not run", () -> {
            try {
                JsonObject answer = hub.manage("POST", path, Map.of("command", "late", "timeoutMs", 1_000));
                assertEquals("The server's main thread did not get to it in time; it was not run.", answer.get("error").getAsString());
                return true;
            } catch (CompletionException failure) {
                // On a loaded machine its answer may come too late for the hub, which says so.
                assertEquals(503, HubException.of(failure).status());
                return false;
            }
        });
        stuck.countDown();
        assertEquals("ran next", hub.manage("POST", path, Map.of("command", "next")).get("output").getAsString());
        assertEquals(List.of("next"), game.commands);
        assertTrue(connector.status().isConnected());
    }

    @Test
    void chatIsShownAndMutedPlayersAreHeldBack() throws Exception {
        HubConnector connector = start(server("chat", game));
        join(connector, player, "Eve");
        connector.sendChat(player, "Eve", "hello").join();
        eventually("the line came back", () -> game.chat.stream().anyMatch(line -> line.message().equals("hello")));
        Punishment mute = owner.punishments().punish(Requests.punishment(PunishmentKind.MUTE, player, "Eve", "spam")).join();
        eventually("the mute is known", () -> connector.punishments().isMuted(player));
        var refused = assertThrows(CompletionException.class, () -> connector.sendChat(player, "Eve", "again").join());
        assertEquals("muted", HubException.of(refused).code());
        hub.manage("PATCH", "/api/manage/punishments/" + mute.id(), Map.of("reason", "spam, again"));
        eventually("the mute stays under its new reason", () ->
                connector.punishments().mute(player).filter(now -> now.reason().equals("spam, again")).isPresent());
        owner.punishments().remove(Requests.removal(mute.id())).join();
        eventually("the mute is over", () -> !connector.punishments().isMuted(player));
        connector.sendChat(player, "Eve", "thanks").join();
    }

    @Test
    void aBannedPlayerIsRemovedAndKeptOut() throws Exception {
        HubConnector connector = start(server("ban", game));
        join(connector, player, "Fay");
        owner.punishments().punish(Requests.punishment(PunishmentKind.BAN, player, "Fay", "cheating")).join();
        eventually("the player was kicked", () -> game.kicked.contains(player));
        JoinDecision decision = connector.checkJoin(player, "Fay", "203.0.113.7").join();
        assertEquals(JoinDecision.Reason.BANNED, decision.reason());
        assertEquals("cheating", decision.ban().reason());
        // A ban of an address concerns another player with it.
        UUID other = UUID.randomUUID();
        owner.punishments().punishIp(Requests.ban("203.0.113.8")).join();
        assertTrue(connector.checkJoin(other, "Gil", "203.0.113.9").join().allowed());
        assertFalse(connector.checkJoin(other, "Gil", "203.0.113.8").join().allowed());
    }

    @Test
    void permissionsAnswerFromMemoryAndAreReadAnew() throws Exception {
        owner.permissions().putGroup("builder", PermissionGroupUpdate.builder()
                .priority(1L)
                .permissions(List.of(Requests.allow("build.*")))
                .build()).join();
        owner.permissions().add(player, Requests.allow("group.builder")).join();
        HubConnector connector = start(server("permissions", game));
        join(connector, player, "Hal");
        assertTrue(connector.permissions().has(player, "build.house"));
        assertEquals(List.of("builder"), connector.permissions().get(player).groups());
        owner.permissions().add(player, Requests.allow("fly")).join();
        eventually("the player may fly", () -> connector.permissions().has(player, "fly"));
        owner.permissions().deleteGroup("builder").join();
        eventually("the group is gone", () -> !connector.permissions().has(player, "build.house"));
    }

    @Test
    void messagesAreInThePlayersLanguageAndFollowTheOperator() throws Exception {
        HubConnector connector = start(server("messages", game)
                .messages("game", "en", Map.of("welcome", "Welcome", "bye", "Bye"))
                .messages("game", "de", Map.of("welcome", "Willkommen")));
        assertEquals("Welcome", connector.localization().text("fr", "welcome"));
        join(connector, player, "Ida");
        connector.localization().setLanguage(player, "de", LanguageSource.PLAYER).join();
        eventually("the catalog is read", () -> connector.localization().catalog() != null
                && connector.localization().catalog().messages().containsKey("de"));
        assertEquals("Willkommen", connector.localization().text(player, "welcome"));
        assertEquals("Bye", connector.localization().text(player, "bye"));
        assertEquals("none", connector.localization().text(player, "none"));
        hub.manage("PUT", "/api/manage/localization/messages/de/game/welcome", Map.of("value", "Servus"));
        eventually("the edit is known", () -> connector.localization().text(player, "welcome").equals("Servus"));
    }

    @Test
    void configIsKeptCurrent() throws Exception {
        HubConnector connector = start(server("config", game));
        List<String> seen = new CopyOnWriteArrayList<>();
        CachedConfig config = connector.config("arena", "main", JsonParser.parseString("{\"rounds\":3}"));
        config.onChange(doc -> seen.add(doc.toString()));
        assertEquals("{\"rounds\":3}", config.get().toString());
        eventually("the default is stored", () -> owner.config().get("arena", "main").join().isPresent());
        owner.config().publish("arena", "main", JsonParser.parseString("{\"rounds\":5}")).join();
        eventually("the change is known", () -> seen.equals(List.of("{\"rounds\":5}")));
        assertEquals("{\"rounds\":5}", config.get().toString());
    }

    @Test
    void aWorldIsWaitedForUntilItIsUp() throws Exception {
        ConnectorOptions options = server("isles", game);
        HubConnector node = options.connector();
        connectors.add(node);
        node.on("WORLD_OPEN", event -> {
            WorldBootOrder open = event.as(WorldBootOrder.class);
            node.client().worlds().ready(open.worldId(), options.info.serverId(), open.fence());
        });
        node.start();
        eventually("the node is connected", () -> node.status().isConnected());
        OpenedWorld world = node.openWorld(Requests.world("isles", player).build()).get(60, TimeUnit.SECONDS);
        assertTrue(world.success());
        assertEquals(options.info.serverId(), world.matchedServer().serverId());
    }

    @Test
    void joinsAndLeavesAreEvents() throws Exception {
        HubConnector watcher = start(server("watch", game).events("PLAYER_JOINED", "PLAYER_LEFT"));
        List<String> seen = new CopyOnWriteArrayList<>();
        watcher.on("PLAYER_JOINED", event -> seen.add("joined " + event.text("playerUuid")));
        watcher.on("PLAYER_LEFT", event -> seen.add("left " + event.text("playerUuid")));
        watcher.playerJoined(player, "Jo");
        watcher.playerLeft(player);
        eventually("both are told", () -> seen.equals(List.of("joined " + player, "left " + player)));
    }

    @Test
    void aServerOfAWrongKeySaysSo() throws Exception {
        HubConnector connector = HubConnector.builder(
                HubClient.create(hub.url(), "hub_wrong"), Requests.server("wrong", "wrong").build(), game).connector();
        connectors.add(connector);
        connector.start();
        eventually("the status tells", () -> connector.status().lastError() != null);
        assertFalse(connector.status().isConnected());
        assertFalse(connector.checkJoin(player, "Kim", null).join().allowed());
    }
}
