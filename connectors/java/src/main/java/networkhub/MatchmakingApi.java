package networkhub;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import networkhub.model.Match;
import networkhub.model.MatchRequest;
import networkhub.model.RegionPopulation;

/** Finding servers and worlds. */
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

    /** Returns servers and players by region; null for all types. */
    public CompletableFuture<List<RegionPopulation>> regions(String serverType) {
        return transport.list(Call.get("matchmaking", "regions").query("serverType", serverType), RegionPopulation.class);
    }
}
