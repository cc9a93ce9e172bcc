package networkhub;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream against a server that does what no hub does. */
class EventStreamTest {
    private final List<String> lastEventIds = new CopyOnWriteArrayList<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<HubException> ends = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService serverThreads = Executors.newCachedThreadPool();
    private HttpServer server;

    @BeforeEach
    void startServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(serverThreads);
        server.start();
    }

    @AfterEach
    void stopServer() {
        thread.shutdownNow();
        server.stop(0);
        serverThreads.shutdownNow();
    }

    private EventStream stream(Duration silence) {
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        Transport transport = new Transport(HttpClient.newHttpClient(), url, "key", Duration.ofSeconds(30), RetryPolicy.NONE);
        return new EventStream(transport, "a", List.of("CHAT"), thread, new EventStream.Listener() {
            @Override
            public void onEvent(HubEvent event) {
                events.add(event.type());
                if (event.type().equals("BROKEN")) throw new IllegalStateException("a listener that fails");
            }

            @Override
            public void onDisconnected(HubException why) {
                ends.add(why);
            }
        }, silence);
    }

    private void answer(HttpExchange exchange, String text) throws IOException {
        lastEventIds.add(String.valueOf(exchange.getRequestHeaders().getFirst("Last-Event-ID")));
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
        exchange.getResponseBody().flush();
    }

    @Test
    void aSilentStreamIsOpenedAgainWhereItEnded() throws Exception {
        server.createContext("/api/plugin/events", exchange ->
                answer(exchange, "retry: 10\nid: e-" + lastEventIds.size() + "\nevent: CHAT\ndata: {}\n\n"));
        try (EventStream stream = stream(Duration.ofMillis(1_500))) {
            stream.open();
            eventually("it was opened three times", () -> lastEventIds.size() >= 3);
        }
        assertEquals(List.of("null", "e-0", "e-1"), lastEventIds.subList(0, 3));
        assertEquals("CHAT", events.get(0));
        assertTrue(ends.get(0).getMessage().contains("nothing came"), ends.get(0).getMessage());
    }

    @Test
    void aListenerThatFailsDoesNotEndTheStream() throws Exception {
        server.createContext("/api/plugin/events", exchange ->
                answer(exchange, "event: BROKEN\ndata: {}\n\nevent: CHAT\ndata: not json\n\nevent: PING\ndata: {\"at\":7}\n\n"));
        try (EventStream stream = stream(Duration.ofSeconds(40))) {
            stream.open();
            eventually("all came", () -> events.equals(List.of("BROKEN", "CHAT", "PING")));
        }
        assertEquals(List.of(), ends);
    }

    @Test
    void aRefusalIsToldAndTriedAgain() throws Exception {
        server.createContext("/api/plugin/events", exchange -> {
            byte[] error = "{\"error\":\"No.\",\"code\":\"forbidden_scope\",\"requestId\":\"r-1\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(403, error.length);
            exchange.getResponseBody().write(error);
            exchange.close();
        });
        try (EventStream stream = stream(Duration.ofSeconds(40))) {
            stream.open();
            eventually("it was tried twice", () -> ends.size() >= 2);
        }
        assertEquals("forbidden_scope", ends.get(0).code());
        assertEquals("r-1", ends.get(0).requestId().orElseThrow());
    }
}
