package networkhub;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import networkhub.model.PunishmentKind;
import networkhub.model.ServerConnectivity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The example as its readers run it: a process with a console. */
class ExampleTest {
    private HubProcess hub;

    @BeforeEach
    void startHub() throws Exception {
        hub = new HubProcess();
    }

    @AfterEach
    void stopHub() throws Exception {
        hub.close();
    }

    private final class Server implements AutoCloseable {
        private final Process process;
        private final PrintStream console;
        private final List<String> output = new CopyOnWriteArrayList<>();

        Server(String id, String type) throws Exception {
            ProcessBuilder builder = new ProcessBuilder(
                    System.getProperty("java.home") + "/bin/java", "-classpath", System.getProperty("java.class.path"),
                    "networkhub.example.ConsoleServer", id, type, "25565");
            builder.environment().putAll(Map.of("HUB_URL", hub.url(), "HUB_KEY", hub.key));
            process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
            console = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            Thread reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
            eventually(id + " is connected", () -> hub.client().servers().list(null, true, id, 0, 1).join().items().stream()
                    .anyMatch(server -> server.connectivity() == ServerConnectivity.CONNECTED));
        }

        private void read() {
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) output.add(line);
            } catch (IOException closed) {
                output.add("closed");
            }
        }

        void type(String line) {
            console.println(line);
        }

        void sees(String line) throws Exception {
            eventually("`" + line + "` in " + output, () -> output.contains(line));
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static UUID idOf(String name) {
        return UUID.nameUUIDFromBytes(("console:" + name).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void playersJoinChatAreSentAndKeptOut() throws Exception {
        try (Server lobby = new Server("lobby-1", "lobby"); Server arena = new Server("arena-1", "arena")) {
            lobby.type("join Ann");
            lobby.sees("Welcome, Ann");
            lobby.type("say Ann hello there");
            lobby.sees("<Ann> hello there");
            arena.sees("<Ann> hello there");
            lobby.type("play Ann arena");
            lobby.sees("Ann goes to arena-1: SUCCESS");
            lobby.sees("sending " + idOf("Ann") + " to 127.0.0.1:25565");
            arena.type("join Ann");
            arena.sees("Welcome, Ann");
            JsonObject list = hub.manage("POST", "/api/manage/servers/arena-1/command", Map.of("command", "list"));
            assertEquals("Ann", list.get("output").getAsString());
            hub.client().punishments().punish(Requests.punishment(PunishmentKind.BAN, idOf("Ann"), "Ann", "cheating")).join();
            arena.sees("kicked " + idOf("Ann") + ": cheating");
            lobby.type("join Ann");
            lobby.sees("Ann may not join: banned for cheating");
            lobby.type("stop");
            assertTrue(lobby.process.waitFor(60, TimeUnit.SECONDS));
            eventually("the lobby is offline",
                    () -> hub.client().servers().list("lobby", true, null, 0, 1).join().total() == 0);
        }
    }

    @Test
    void purchaseBeyondTheBalanceIsRefused() throws Exception {
        try (Server lobby = new Server("shop-1", "lobby")) {
            hub.client().economy().modify("player", idOf("Ben").toString(), "coins", BigDecimal.TEN, null).join();
            lobby.type("buy Ben 7");
            lobby.sees("sold, 3 left");
            lobby.type("buy Ben 7");
            lobby.sees("too expensive");
        }
    }
}
