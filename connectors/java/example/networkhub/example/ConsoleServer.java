package networkhub.example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import networkhub.model.MatchRequest;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.ServerRegistration;
import networkhub.connector.GameServer;
import networkhub.connector.HubConnector;
import networkhub.connector.JoinDecision;
import networkhub.model.ChatMessage;
import networkhub.model.Match;
import networkhub.model.Punishment;
import networkhub.model.SignedTransferCommand;

/**
 * A game server without a game: players join, chat, buy and leave by lines on its console. It has what a plugin for a real server has, and
 * shows all of it. {@code HUB_URL} and {@code HUB_KEY} say where the hub is; arguments: SERVER_ID SERVER_TYPE PORT.
 */
public final class ConsoleServer implements GameServer {
    private final ExecutorService mainThread = Executors.newSingleThreadExecutor();
    private final HubConnector hub;
    /** Players on the server, by name. Belongs to the main thread. */
    private final Map<String, UUID> players = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    private ConsoleServer(HubClient client, ServerRegistration info) {
        hub = HubConnector.builder(client, info, this)
                .messages("console", "en", Map.of("welcome", "Welcome"))
                .messages("console", "de", Map.of("welcome", "Willkommen"))
                .connector();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        HubClient client = HubClient.create(System.getenv("HUB_URL"), System.getenv("HUB_KEY"));
        ServerRegistration info = ServerRegistration.builder()
                .serverId(arguments[0])
                .serverType(arguments[1])
                .port(Integer.parseInt(arguments[2]))
                .host("127.0.0.1")
                .maxPlayers(20)
                .platformName("console")
                .platformVersion("1")
                .build();
        new ConsoleServer(client, info).run();
    }

    private void run() throws IOException, InterruptedException {
        hub.start();
        BufferedReader console = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = console.readLine(); line != null && !line.equals("stop"); line = console.readLine()) {
            String[] words = line.trim().split(" ", 3);
            runOnMainThread(() -> act(words));
        }
        try {
            hub.stop().get(10, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            print("the hub was not told: " + failure.getMessage());
        }
        mainThread.shutdown();
    }

    /** join NAME · leave NAME · say NAME TEXT · play NAME SERVER_TYPE · buy NAME PRICE · status */
    private void act(String[] words) {
        String name = words.length > 1 ? words[1] : "";
        switch (words[0]) {
            case "join" -> join(idOf(name), name);
            case "leave" -> leave(name);
            case "say" -> say(idOf(name), name, words[2]);
            case "play" -> play(idOf(name), name, words[2]);
            case "buy" -> buy(idOf(name), new BigDecimal(words[2]));
            case "status" -> print(hub.status().toString());
            default -> print("unknown: " + words[0]);
        }
    }

    /** A real server has an id from the player's account. */
    private static UUID idOf(String name) {
        return UUID.nameUUIDFromBytes(("console:" + name).getBytes(StandardCharsets.UTF_8));
    }

    private static void print(String line) {
        System.out.println(line);
    }

    // Reports of the game to the hub.

    private void join(UUID player, String name) {
        hub.checkJoin(player, name, null).thenAcceptAsync(decision -> {
            if (decision.allowed()) {
                players.put(name, player);
                hub.playerJoined(player, name);
                print(hub.localization().text(player, "welcome") + ", " + name);
            } else {
                print(name + " may not join: " + reason(decision));
            }
        }, this);
    }

    private static String reason(JoinDecision decision) {
        return switch (decision.reason()) {
            case BANNED -> "banned for " + decision.ban().reason();
            case NOT_VERIFIED -> "try again in a minute";
        };
    }

    private void leave(String name) {
        UUID player = players.remove(name);
        if (player != null) hub.playerLeft(player);
    }

    private void say(UUID player, String name, String text) {
        hub.sendChat(player, name, text).exceptionally(failure -> {
            print(name + " cannot say that: " + HubException.of(failure).getMessage());
            return null;
        });
    }

    private void play(UUID player, String name, String serverType) {
        MatchRequest request = MatchRequest.builder().serverType(serverType).playerUuid(player).playerName(name).build();
        hub.client().matchmaking().find(request)
                .thenAccept(match -> send(player, name, match))
                .exceptionally(failure -> {
                    print("no match: " + HubException.of(failure).getMessage());
                    return null;
                });
    }

    private void send(UUID player, String name, Match match) {
        if (!match.success()) {
            print("no place for " + name + ": " + match.result());
            return;
        }
        hub.transfer(player, match.matchedServer().serverId(), null)
                .thenAccept(outcome -> print(name + " goes to " + match.matchedServer().serverId() + ": " + outcome.result()));
    }

    private void buy(UUID player, BigDecimal price) {
        hub.client().economy().spend(player, "coins", price, "console shop")
                .thenAccept(spent -> print("sold, " + spent.balance().toPlainString() + " left"))
                .exceptionally(failure -> {
                    HubException error = HubException.of(failure);
                    print(error.is("insufficient_funds") ? "too expensive" : "not sold: " + error.getMessage());
                    return null;
                });
    }

    // Requests of the hub to the game.

    @Override
    public void runOnMainThread(Runnable task) {
        mainThread.execute(task);
    }

    @Override
    public void transferPlayer(UUID player, SignedTransferCommand command) {
        // A real server sends the player's client there, who then leaves.
        if (!players.values().remove(player)) throw new IllegalStateException("the player has just left");
        print("sending " + player + " to " + command.host() + ":" + command.port());
        hub.playerLeft(player);
    }

    @Override
    public void kickPlayer(UUID player, Punishment reason) {
        players.values().remove(player);
        hub.playerLeft(player);
        print("kicked " + player + ": " + reason.reason());
    }

    @Override
    public void showChat(ChatMessage message) {
        print("<" + message.playerName() + "> " + message.message());
    }

    @Override
    public String runCommand(String command) {
        if (command.equals("list")) return String.join(", ", players.keySet());
        throw new IllegalArgumentException("unknown command: " + command);
    }
}
