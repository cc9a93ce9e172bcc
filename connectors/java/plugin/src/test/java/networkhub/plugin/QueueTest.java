package networkhub.plugin;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import networkhub.HubClient;
import networkhub.model.Delivery;
import networkhub.model.DeliveryRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Waiting lines and deliveries in the shell. */
class QueueTest {
    private static Network network;

    private final UUID player = UUID.randomUUID();

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

    private boolean isOnline() {
        return network.hub.client().players().get(player, null).join().filter(now -> now.online()).isPresent();
    }

    @Test
    void playersSeeTheirPlaceAndLeave() throws Exception {
        Network.Server game = network.server(PlatformKind.PAPER, "type=lobby");
        game.join(player, "Ann");
        eventually("the player is there", this::isOnline);
        Sender sender = game.player(player);
        assertEquals(1, game.run(sender, "queue").size());
        game.run(sender, "queue", "nowhere");
        eventually("the place is told", () -> game.platform().sent.stream().anyMatch(text -> text.contains("<white>1</white> of 1")));
        List<String> place = game.run(sender, "queue");
        assertTrue(place.get(0).contains("<white>1</white> of 1"), place.toString());
        List<String> left = game.run(sender, "queue", "leave");
        eventually("the line is left", () -> left.size() == 1 && left.get(0).contains("left the line"));
        assertTrue(game.run(sender, "queue").get(0).contains("not waiting"));
    }

    @Test
    void deliveriesRunCommandsAndShowTexts() throws Exception {
        Network.Server game = network.server(PlatformKind.PAPER, "type=lobby");
        game.join(player, "Ann");
        eventually("the player is there", this::isOnline);
        long command = deliver("command", Map.of("command", "/give {player} diamond"));
        long message = deliver("message", Map.of("text", "<gold>Thank you!"));
        long wrong = deliver("message", Map.of());
        eventually("the command was run", () -> game.platform().commands.equals(List.of("give Ann diamond")));
        eventually("the text is shown", () -> game.platform().sent.contains("Ann <gold>Thank you!"));
        for (long id : List.of(command, message)) eventually("it is settled", () -> state(id).equals("DELIVERED"));
        eventually("it has failed", () -> state(wrong).equals("FAILED"));
    }

    private long deliver(String kind, Map<String, String> payload) {
        Delivery made = network.hub.client().deliveries().create(DeliveryRequest.builder().playerUuid(player).kind(kind)
                .payload(HubClient.gson().toJsonTree(payload)).build()).join();
        return made.deliveryId();
    }

    private String state(long id) {
        for (var each : network.hub.manage("GET", "/api/manage/deliveries?limit=100", null).getAsJsonArray("items")) {
            if (each.getAsJsonObject().get("deliveryId").getAsLong() == id) return each.getAsJsonObject().get("state").getAsString();
        }
        return "unknown";
    }
}
