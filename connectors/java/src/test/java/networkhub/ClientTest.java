package networkhub;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import networkhub.model.AddressUnban;
import networkhub.model.CollectionDefinition;
import networkhub.model.CollectionIndex;
import networkhub.model.DataEntry;
import networkhub.model.HeartbeatPlayer;
import networkhub.model.IndexType;
import networkhub.model.LanguageSource;
import networkhub.model.LoadedPlayer;
import networkhub.model.LogBatchLine;
import networkhub.model.Match;
import networkhub.model.MatchResult;
import networkhub.model.ModifiedBalance;
import networkhub.model.NameUnban;
import networkhub.model.OutputStream;
import networkhub.model.PermissionGroupUpdate;
import networkhub.model.PermissionNodeInput;
import networkhub.model.PlayerAddress;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import networkhub.model.PunishmentRequest;
import networkhub.model.StatisticPeriod;
import networkhub.model.TransactionReceipt;
import networkhub.model.WorldLeaseState;
import networkhub.model.WorldOpenStatus;
import networkhub.model.WorldPersistence;
import networkhub.model.WorldReport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ClientTest {
    private static HubProcess hub;
    private static HubClient client;

    @BeforeAll
    static void startHub() throws Exception {
        hub = new HubProcess();
        client = hub.client();
    }

    @AfterAll
    static void stopHub() throws Exception {
        hub.close();
    }

    private static HubException failure(CompletableFuture<?> call) {
        return HubException.of(assertThrows(CompletionException.class, call::join));
    }

    @Test
    void aServerRegistersAndHasPlayers() {
        UUID player = UUID.randomUUID();
        var registered = client.servers().register(Requests.server("client-1", "client").maxPlayers(5).build(),
                new ServerState("WAITING", 2, List.of(WorldReport.builder()
                        .worldId("arena")
                        .displayName("Arena")
                        .currentPlayers(1)
                        .maxPlayers(8)
                        .gameState("WAITING")
                        .playersToStart(2)
                        .worldType("arena")
                        .build()))).join();
        assertTrue(registered.heartbeatIntervalMs() > 0);
        assertFalse(registered.signingSecret().isEmpty());
        client.servers().join("client-1", player, "Ann").join();
        client.servers().changeWorld("client-1", player, "arena", null).join();
        assertEquals("Ann", client.servers().onlinePlayers("client").join().get(0).playerName());
        client.servers().heartbeat("client-1", ServerState.EMPTY, List.of(new HeartbeatPlayer("Ann", player))).join();
        var server = client.servers().list("client", true, null, 0, 10).join().items().get(0);
        assertEquals("arena", server.live().worlds().get(0).worldId());
        assertEquals("arena", client.players().get(player, null).join().orElseThrow().connection().worldId());
        assertEquals(1, client.matchmaking().regions("client").join().size());
        client.servers().shipLogs("client-1", List.of(new LogBatchLine(1, OutputStream.STDOUT, "hello"))).join();
        client.servers().leave("client-1", player).join();
        client.servers().unregister("client-1").join();
        assertEquals("unknown_server", failure(client.servers().heartbeat("client-1", ServerState.EMPTY, null)).code());
    }

    @Test
    void anErrorHasItsCodeAndTheRequestsId() {
        HubException error = failure(client.config().publish("", "x", new JsonObject()));
        assertEquals(400, error.status());
        assertTrue(error.requestId().isPresent());
        assertFalse(error.isTransient());
        assertEquals("unauthenticated", failure(HubClient.create(hub.url(), "hub_wrong").version()
                .thenCompose(version -> HubClient.create(hub.url(), "hub_wrong").permissions().groups())).code());
        assertThrows(IllegalArgumentException.class, () -> HubClient.create("hub.example", "key"));
    }

    @Test
    void anUnreachableHubIsTransientAndTriedAgain() throws Exception {
        HubClient away = HubClient.builder("http://127.0.0.1:" + HubProcess.freePort(), "key")
                .retry(new RetryPolicy(3, Duration.ofMillis(40), Duration.ofSeconds(1))).build();
        long start = System.nanoTime();
        HubException error = failure(away.permissions().groups());
        assertEquals(HubException.UNREACHABLE, error.code());
        assertTrue(error.isTransient());
        // Two waits, of half of 40 ms and of 80 ms at least.
        assertTrue(System.nanoTime() - start >= Duration.ofMillis(60).toNanos());
    }

    @Test
    void anAnswerThatEndsInTheMiddleIsGivenUpInTime() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HubClient cutOff = HubClient.builder("http://127.0.0.1:" + listener.getLocalPort(), "key")
                    .retry(RetryPolicy.NONE).timeout(Duration.ofMillis(500)).build();
            CompletableFuture<?> call = cutOff.permissions().groups();
            try (Socket connection = listener.accept()) {
                connection.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[".getBytes(US_ASCII));
                HubException error = HubException.of(assertThrows(ExecutionException.class, () -> call.get(10, SECONDS)));
                assertEquals(HubException.UNREACHABLE, error.code());
                connection.setSoTimeout(10_000);
                while (connection.getInputStream().read() >= 0) { } // The connection is closed, too.
            }
        }
    }

    @Test
    void dataIsWrittenOverWhatWasRead() {
        UUID player = UUID.randomUUID();
        assertEquals(Optional.empty(), client.players().getData(player, "bedwars", "kit").join());
        DataEntry first = client.players().putData(player, "bedwars", "kit", "{\"a\": 1}", null).join();
        assertEquals(2, client.players().putData(player, "bedwars", "kit", "{\"a\": 2}", first.version()).join().version());
        HubException stale = failure(client.players().putData(player, "bedwars", "kit", "{}", first.version()));
        assertEquals("version_conflict", stale.code());
        assertEquals("{\"a\": 2}", client.players().getData(player, "bedwars", "kit").join().orElseThrow().data());
        assertTrue(client.players().deleteData(player, "bedwars", "kit").join());
        assertFalse(client.players().deleteData(player, "bedwars", "kit").join());
    }

    @Test
    void aLoadMakesAPlayerKnown() {
        UUID player = UUID.randomUUID();
        assertEquals(Optional.empty(), client.players().get(player, null).join());
        LoadedPlayer loaded = client.players().load(player, "Ben", null, "MINECRAFT", null, List.of()).join();
        assertEquals("Ben", loaded.username());
        client.players().increment(player, "kills", 3, null).join();
        var statistics = client.players().statistics(player, null).join();
        assertEquals(4, statistics.statistics().size());
        assertEquals(3, client.economy().statisticLeaderboard("kills", null, StatisticPeriod.DAILY, null, 5).join().entries().get(0).value());
        assertEquals(1, client.players().list("be", null, null, 0, 10).join().total());
    }

    @Test
    void aLoadIncludesWhatAJoinNeeds() {
        UUID player = UUID.randomUUID();
        client.permissions().add(player, Requests.allow("fly")).join();
        client.players().putData(player, "global", "kit", "{}", null).join();
        client.localization().setLanguage(player, "de", LanguageSource.PLAYER, "Cat").join();
        LoadedPlayer loaded = client.players().load(player, "Cat", null, null, null,
                List.of("permissions", "punishments", "language", "balances", "statistics", "data:kit", "data:none")).join();
        assertEquals(true, loaded.permissions().permissions().get("fly"));
        assertEquals("de", loaded.language().locale());
        assertEquals(1, loaded.data().get("kit").version());
        assertTrue(loaded.data().containsKey("none"));
        assertEquals(List.of(), loaded.punishments());
    }

    @Test
    void moneyIsCutOrRefusedWhole() {
        UUID player = UUID.randomUUID();
        client.economy().modify("player", player.toString(), "coins", new BigDecimal("30.5"), "start").join();
        assertEquals(new BigDecimal("30.5"), client.economy().balances("player", player.toString()).join().get(0).balance());
        assertEquals("insufficient_funds", failure(client.economy().spend(player, "coins", new BigDecimal("31"), "sword")).code());
        ModifiedBalance spent = client.economy().spend(player, "coins", new BigDecimal("30"), "sword").join();
        assertEquals(0, spent.balance().compareTo(new BigDecimal("0.5")));
        assertEquals(0, spent.applied().compareTo(new BigDecimal("-30")));
    }

    @Test
    void aTransactionIsDoneWholeOrNotAtAll() {
        UUID rich = UUID.randomUUID();
        UUID poor = UUID.randomUUID();
        client.economy().modify("player", rich.toString(), "coins", BigDecimal.TEN, null).join();
        TransactionReceipt paid = client.economy().pay(rich, poor, "coins", new BigDecimal("4"), "gift").join();
        assertEquals(0, paid.balances().get(0).balance().compareTo(new BigDecimal("6")));
        assertEquals(0, paid.balances().get(1).balance().compareTo(new BigDecimal("4")));
        HubException error = failure(client.economy().pay(rich, poor, "coins", new BigDecimal("7"), "gift"));
        assertEquals("insufficient_funds", error.code());
        assertEquals(0, error.details().get("operation").getAsInt());
    }

    @Test
    void punishmentsComeAndGo() {
        UUID player = UUID.randomUUID();
        Punishment mute = client.punishments().punish(PunishmentRequest.builder()
                .playerUuid(player)
                .playerName("Dan")
                .type(PunishmentKind.MUTE)
                .reason("spam")
                .durationMs(3_600_000L)
                .issuerName("Admin")
                .build()).join();
        assertTrue(mute.active());
        client.punishments().recordIp(
                PlayerAddress.builder().playerUuid(player).playerName("Dan").ipAddress("203.0.113.9").build()).join();
        assertEquals("203.0.113.9", client.players().ips(player).join().get(0).ipAddress());
        client.punishments().punishIp(Requests.ban("203.0.113.9")).join().orElseThrow();
        assertEquals(Optional.empty(), client.punishments().punishIp(Requests.ban("")).join());
        assertEquals(2, client.punishments().query(player, "203.0.113.9", true).join().size());
        assertEquals(1, client.punishments().unbanIp(
                AddressUnban.builder().ipAddress("203.0.113.9").actorName("Admin").build()).join().size());
        assertFalse(client.punishments().remove(Requests.removal(mute.id())).join().active());
        assertEquals(List.of(), client.punishments().ofPlayer(player, true).join());
        assertEquals(1, client.punishments().historyOfPlayer(player, 10, 0).join().size());
        client.punishments().punishName(Requests.banName("Nobody")).join();
        assertEquals(1, client.punishments().ofName("nobody", true).join().size());
        assertEquals(1, client.punishments().unbanName(
                NameUnban.builder().playerName("Nobody").actorName("Admin").build()).join().size());
        assertEquals(1, client.punishments().historyOfName("NOBODY", 10, 0).join().size());
    }

    @Test
    void permissionsAreEvaluated() {
        UUID player = UUID.randomUUID();
        client.permissions().putGroup("vip", PermissionGroupUpdate.builder()
                .displayName("VIP")
                .priority(5L)
                .permissions(List.of(Requests.allow("Kit.*")))
                .build()).join();
        PermissionNodeInput membership = PermissionNodeInput.builder().node("group.vip").build();
        client.permissions().add(player, membership).join();
        var answer = client.permissions().effective(player, null, null, null).join();
        assertEquals(List.of("vip"), answer.permissions().groups());
        assertEquals(true, answer.permissions().permissions().get("kit.*"));
        client.permissions().remove(player, membership).join();
        assertEquals(List.of(), client.permissions().ofPlayer(player).join());
        assertTrue(client.permissions().group("vip").join().isPresent());
        assertTrue(client.permissions().deleteGroup("vip").join());
        assertFalse(client.permissions().deleteGroup("vip").join());
        if (answer.etag() != null) {
            var now = client.permissions().effective(player, null, null, null).join();
            assertEquals(null, client.permissions().effective(player, null, null, now.etag()).join().permissions());
        }
    }

    @Test
    void messagesConfigAndCollections() {
        assertEquals(1, client.localization().registerDefaults("shop", "en", Map.of("hello", "Hello")).join());
        assertEquals("Hello", client.localization().catalog(List.of("shop")).join().messages().get("en").get("hello"));
        UUID player = UUID.randomUUID();
        client.localization().setLanguage(player, "de", LanguageSource.AUTO, "Eve").join();
        assertEquals("de", client.localization().language(player).join().locale());
        client.localization().setLanguage(player, null, LanguageSource.PLAYER, null).join();
        assertEquals(null, client.localization().language(player).join().locale());

        var doc = JsonParser.parseString("{\"rounds\": 3}");
        assertEquals(doc, client.config().register("bedwars", "main", doc).join().doc());
        client.config().publish("bedwars", "main", new JsonObject()).join();
        assertEquals(new JsonObject(), client.config().get("bedwars", "main").join().orElseThrow().doc());
        assertEquals(Optional.empty(), client.config().get("bedwars", "other").join());

        client.collections().register(List.of(CollectionDefinition.builder()
                .name("guilds")
                .key("id")
                .indexes(List.of(CollectionIndex.builder().field("level").type(IndexType.NUMBER).build()))
                .build())).join();
        client.collections().put("guilds", "red", JsonParser.parseString("{\"level\": 7}")).join();
        client.collections().put("guilds", "blue", JsonParser.parseString("{\"level\": 9}")).join();
        assertEquals("blue", client.collections().top("guilds", "level", 1, null).join().items().get(0).id());
        assertEquals("red", client.collections().findRange("guilds", "level", null, 8.0, null, 10, null).join().items().get(0).id());
        assertEquals(1, client.collections().findBy("guilds", "level", 7, 10, null).join().items().size());
        var page = client.collections().page("guilds", "level", CollectionsApi.Order.ASC, 1, null).join();
        assertEquals("blue", client.collections().page("guilds", "level", CollectionsApi.Order.ASC, 1, page.nextCursor())
                .join().items().get(0).id());
        assertEquals(2, client.collections().getAll("guilds", List.of("red", "blue", "none")).join().items().size());
        assertTrue(client.collections().delete("guilds", "red").join());
        assertEquals(Optional.empty(), client.collections().get("guilds", "red").join());
    }

    @Test
    void aMatchTellsWhyThereIsNone() {
        Match none = client.matchmaking().find(Requests.match("nowhere", UUID.randomUUID(), "Fay").build()).join();
        assertFalse(none.success());
        assertEquals(MatchResult.NO_SERVERS_AVAILABLE, none.result());
    }

    @Test
    void aPartyIsMatchedWholeOrNotAtAll() {
        client.servers().register(Requests.server("party-1", "party").maxPlayers(2).build(), ServerState.EMPTY).join();
        UUID player = UUID.randomUUID();
        assertEquals(MatchResult.ALL_SERVERS_FULL, client.matchmaking().find(Requests.match("party", player, "Gus")
                .party(List.of(UUID.randomUUID(), UUID.randomUUID()))
                .build()).join().result());
        assertTrue(client.matchmaking().find(Requests.match("party", player, "Gus")
                .party(List.of(UUID.randomUUID()))
                .build()).join().success());
    }

    @Test
    void aWorldIsOpenedAndRunByItsNode() {
        UUID owner = UUID.randomUUID();
        assertFalse(client.worlds().open(Requests.world("islands", owner).build()).join().success());
        client.servers().register(Requests.server("node-1", "islands").build(), ServerState.EMPTY).join();
        assertEquals(0, client.worlds().releaseAll("node-1").join());
        var opened = client.worlds().open(Requests.world("islands", owner).persistence(WorldPersistence.EPHEMERAL).build()).join();
        assertEquals(WorldOpenStatus.LOADING, opened.status());
        long world = Long.parseLong(opened.worldInstanceId());
        assertEquals("stale_fence", failure(client.worlds().ready(world, "node-1", 99)).code());
        assertEquals(WorldLeaseState.READY, client.worlds().ready(world, "node-1", 1).join().state());
        assertEquals(2, client.worlds().heartbeat(world, "node-1", 1, 2, null, null).join().playerCount());
        assertEquals(WorldLeaseState.DRAINING, client.worlds().release(opened.worldInstanceId()).join().state());
        assertEquals(WorldLeaseState.UNLOADED, client.worlds().unloaded(world, "node-1", 1, null, null).join().state());
    }
}
