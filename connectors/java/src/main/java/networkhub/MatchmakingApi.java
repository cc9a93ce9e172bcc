package networkhub;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.Match;
import networkhub.model.MatchRequest;
import networkhub.model.RegionPopulation;
import networkhub.model.Ticket;
import networkhub.model.TicketRequest;

/** Finding servers and worlds, and waiting for them. */
public final class MatchmakingApi {
    private final Transport transport;

    MatchmakingApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Finds a place and reserves a slot there for 15 seconds. Where there is none the answer says why; that is no error.
     */
    public CompletableFuture<Match> find(MatchRequest request) {
        return transport.send(Call.post("matchmaking", "find").body(request).keyed(), Match.class);
    }

    /** Takes a ticket of a waiting line. The same request again keeps ticket and place; another one replaces the ticket. */
    public CompletableFuture<Ticket> joinLine(TicketRequest request) {
        return transport.send(Call.post("matchmaking", "tickets").body(request), Ticket.class);
    }

    /** A ticket; empty where there is none, or it ended more than 10 minutes ago. */
    public CompletableFuture<Optional<Ticket>> ticket(UUID ticketId) {
        return PlayersApi.optional(transport.send(Call.get("matchmaking", "tickets", ticketId), Ticket.class));
    }

    /** Ends a ticket; returns whether there was one. */
    public CompletableFuture<Boolean> leaveLine(UUID ticketId) {
        Call call = Call.delete("matchmaking", "tickets", ticketId);
        return PlayersApi.optional(transport.run(call).thenApply(nothing -> true)).thenApply(Optional::isPresent);
    }

    /** Returns servers and players by region; null for all types. */
    public CompletableFuture<List<RegionPopulation>> regions(String serverType) {
        return transport.list(Call.get("matchmaking", "regions").query("serverType", serverType), RegionPopulation.class);
    }
}
