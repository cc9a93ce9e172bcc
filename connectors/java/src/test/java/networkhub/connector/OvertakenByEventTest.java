package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.Requests;
import networkhub.model.ServerRole;
import networkhub.model.SignedTransferCommand;
import networkhub.model.Ticket;
import networkhub.model.TicketRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers that an event overtakes: it is newer than they are. */
class OvertakenByEventTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final Semaphore asked = new Semaphore(0);
    private final Semaphore answered = new Semaphore(0);
    private final FakeGame game = new FakeGame();
    private HttpServer hub;
    private HubConnector connector;

    @BeforeEach
    void startHub() throws IOException {
        hub = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hub.setExecutor(threads);
        hub.createContext("/", exchange -> answer(exchange, 503, "{}"));
        hub.createContext("/api/plugin/servers/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        hub.createContext("/api/plugin/events", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try {
                while (true) {
                    exchange.getResponseBody().write(events.take().getBytes(StandardCharsets.UTF_8));
                    exchange.getResponseBody().flush();
                }
            } catch (InterruptedException ended) {
                exchange.close();
            }
        });
        hub.start();
        HubClient client = HubClient.create("http://127.0.0.1:" + hub.getAddress().getPort(), "key");
        connector = HubConnector.builder(client, Requests.server("a", "proxy").role(ServerRole.PROXY).build(), game).connector();
    }

    @AfterEach
    void stop() throws Exception {
        answered.release(1_000);
        connector.stop().get(60, TimeUnit.SECONDS);
        game.close();
        threads.shutdownNow();
        hub.stop(0);
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private void registration(String secret, boolean isHeld) {
        hub.createContext("/api/plugin/servers/register", exchange -> {
            hold(isHeld);
            answer(exchange, 201, "{\"serverId\":\"a\",\"heartbeatIntervalMs\":60000,\"offlineAfterMs\":90000,\"signingSecret\":\"" + secret
                    + "\"}");
        });
    }

    private void hold(boolean isHeld) {
        if (!isHeld) return;
        asked.release();
        answered.acquireUninterruptibly();
    }

    private void tell(String type, String fields) {
        events.add("event: " + type + "\ndata: {\"type\":\"" + type + "\",\"at\":0," + fields + "}\n\n");
    }

    @Test
    void aRegistration() throws Exception {
        registration("old", true);
        List<String> told = new CopyOnWriteArrayList<>();
        connector.on("SIGNING_SECRET_ROTATED", event -> told.add(event.type()));
        connector.start();
        assertTrue(asked.tryAcquire(60, TimeUnit.SECONDS));
        tell("SIGNING_SECRET_ROTATED", "\"signingSecret\":\"new\",\"validUntil\":1");
        eventually("the change is told", () -> told.size() == 1);
        answered.release();
        eventually("it is registered", () -> connector.status().registered());
        UUID id = UUID.randomUUID();
        long expiresAt = 9_000_000_000_000L;
        String signature = TransferVerifier.sign("new", id + "." + id + ".a..h.1." + expiresAt);
        SignedTransferCommand command = new SignedTransferCommand(expiresAt, "h", 0, id, 1, "a", null, id, signature);
        assertNull(connector.transferVerifier().refusal(command, System.currentTimeMillis() + 3_600_000));
    }

    @Test
    void aTicket() throws Exception {
        registration("secret", false);
        UUID player = UUID.randomUUID();
        List<UUID> tickets = List.of(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID());
        BlockingQueue<UUID> next = new LinkedBlockingQueue<>(tickets);
        hub.createContext("/api/plugin/matchmaking/tickets", exchange -> {
            UUID ticket = next.remove();
            hold(true);
            answer(exchange, 200, "{\"line\":\"type:arena\",\"position\":2,\"waiting\":2,\"state\":\"WAITING\",\"ticketId\":\"" + ticket
                    + "\",\"etaMs\":null,\"match\":null}");
        });
        List<Place> places = new CopyOnWriteArrayList<>();
        List<UUID> matched = new CopyOnWriteArrayList<>();
        connector.onPlace(places::add);
        connector.onMatch(event -> matched.add(event.ticketId()));
        connector.start();
        connector.playerJoined(player, "Ann");
        eventually("it is registered", () -> connector.status().registered());

        CompletableFuture<Ticket> first = wait(player);
        tell("TICKET_UPDATED", updated(tickets.get(0), player));
        eventually("the place is told", () -> places.size() == 1);
        answered.release();
        assertEquals(2, first.get(60, TimeUnit.SECONDS).position());
        assertEquals(1, connector.place(player).orElseThrow().position());

        CompletableFuture<Ticket> second = wait(player);
        tell("TICKET_MATCHED", "\"ticketId\":\"" + tickets.get(1) + "\",\"playerUuid\":\"" + player + "\",\"party\":[],\"match\":{"
                + "\"result\":\"SUCCESS\",\"success\":true,\"warm\":false,\"transferId\":\"" + tickets.get(1) + "\",\"matchedServer\":"
                + "{\"serverId\":\"b\",\"serverType\":\"arena\",\"host\":\"h\",\"region\":\"UNKNOWN\",\"playerCountDisplay\":\"0\"}}");
        eventually("the match is told", () -> matched.size() == 1);
        answered.release();
        second.get(60, TimeUnit.SECONDS);
        assertTrue(connector.place(player).isEmpty());

        // Of an older ticket.
        CompletableFuture<Ticket> third = wait(player);
        tell("TICKET_UPDATED", updated(tickets.get(0), player));
        eventually("the other place is told", () -> places.size() == 2);
        answered.release();
        third.get(60, TimeUnit.SECONDS);
        assertEquals(tickets.get(2), connector.place(player).orElseThrow().ticketId());
        assertEquals(2, connector.place(player).orElseThrow().position());
    }

    private CompletableFuture<Ticket> wait(UUID player) throws InterruptedException {
        CompletableFuture<Ticket> ticket = connector.waitInLine(TicketRequest.builder().playerUuid(player).serverType("arena").build());
        assertTrue(asked.tryAcquire(60, TimeUnit.SECONDS));
        return ticket;
    }

    private static String updated(UUID ticket, UUID player) {
        return "\"ticketId\":\"" + ticket + "\",\"playerUuid\":\"" + player + "\",\"position\":1,\"waiting\":2,\"etaMs\":null";
    }
}
