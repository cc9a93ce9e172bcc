package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import networkhub.HubProcess;
import networkhub.Requests;
import networkhub.model.Ticket;
import networkhub.model.TicketRequest;
import networkhub.model.TicketState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Players who wait for a server that is full. */
class WaitingLinesTest {
    private HubProcess hub;
    private final List<HubConnector> connectors = new ArrayList<>();
    private final FakeGame game = new FakeGame();
    private final FakeGame arenaGame = new FakeGame();

    @BeforeEach
    void startHub() throws Exception {
        hub = new HubProcess();
    }

    @AfterEach
    void stop() throws Exception {
        for (HubConnector connector : connectors) connector.stop().get(60, TimeUnit.SECONDS);
        game.close();
        arenaGame.close();
        hub.close();
    }

    private HubConnector start(String server, FakeGame game, int maxPlayers) throws Exception {
        HubConnector connector =
                HubConnector.builder(hub.client(), Requests.server(server, server).maxPlayers(maxPlayers).build(), game).connector();
        connectors.add(connector);
        connector.start();
        eventually("the connector is connected", () -> connector.status().isConnected());
        return connector;
    }

    private UUID join(HubConnector connector, String name) throws Exception {
        UUID player = UUID.randomUUID();
        connector.playerJoined(player, name);
        eventually("the player is online", () -> hub.client().players().get(player, null).join().filter(now -> now.online()).isPresent());
        return player;
    }

    private static TicketRequest wish(UUID player) {
        return TicketRequest.builder().playerUuid(player).serverType("arena").build();
    }

    @Test
    void playersAreToldTheirPlaceAndSentInTurn() throws Exception {
        HubConnector lobby = start("lobby", game, 10);
        HubConnector arena = start("arena", arenaGame, 1);
        UUID inside = join(arena, "Ann");
        UUID first = join(lobby, "Ben");
        UUID second = join(lobby, "Cat");
        List<Place> places = new CopyOnWriteArrayList<>();
        lobby.onPlace(places::add);
        Ticket ticket = lobby.waitInLine(wish(first)).get(60, TimeUnit.SECONDS);
        assertEquals(TicketState.WAITING, ticket.state());
        lobby.waitInLine(wish(second)).get(60, TimeUnit.SECONDS);
        eventually("both know their place", () -> places.size() >= 2);
        assertEquals(2, lobby.place(second).orElseThrow().position());
        assertTrue(lobby.place(second).orElseThrow().text().startsWith("You are 2 of 2 in line"));

        arena.playerLeft(inside);
        eventually("the first is sent", () -> game.transfers.size() == 1);
        assertEquals(first, game.transfers.get(0).playerUuid());
        assertEquals("arena", game.transfers.get(0).targetServerId());
        lobby.playerLeft(first);
        arena.playerJoined(first, "Ben");
        eventually("the second moves up", () -> lobby.place(second).filter(place -> place.position() == 1).isPresent());
        assertEquals(TicketState.JOINED, hub.client().matchmaking().ticket(ticket.ticketId()).join().orElseThrow().state());
        assertTrue(lobby.leaveLine(second).get(60, TimeUnit.SECONDS));
        assertTrue(lobby.place(second).isEmpty());
        assertEquals(1, game.transfers.size());
    }

    @Test
    void placesOutliveAHubThatDoesNotAnswerAndAreReadAgain() throws Exception {
        HubConnector lobby = start("lobby", game, 10);
        UUID player = join(lobby, "Ann");
        Ticket ticket = lobby.waitInLine(wish(player)).get(60, TimeUnit.SECONDS);
        eventually("the place is known", () -> lobby.place(player).isPresent());
        hub.kill();
        assertThrows(ExecutionException.class, () -> lobby.leaveLine(player).get(60, TimeUnit.SECONDS));
        assertTrue(lobby.place(player).isPresent(), "it can be left again");
        hub.start();
        // Before the connector is back: its events belong to a hub that is no more, so it gets RESYNC.
        hub.client().matchmaking().leaveLine(ticket.ticketId()).join();
        eventually("the place is over", () -> lobby.place(player).isEmpty());
    }
}
