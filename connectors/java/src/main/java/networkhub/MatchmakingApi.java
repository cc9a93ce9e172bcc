package networkhub;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import networkhub.model.MatchResult;
import networkhub.model.RegionCount;

/** Finding servers and worlds. */
public final class MatchmakingApi {
    private final Transport transport;

    MatchmakingApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Finds a place and reserves a slot there for 15 seconds. Where there is none the answer says why; that is no error.
     */
    public CompletableFuture<MatchResult> find(FindRequest request) {
        return transport.send(Call.post("matchmaking", "find").body(request).keyed(), MatchResult.class);
    }

    /** Where servers of a type are; null for all. */
    public CompletableFuture<List<RegionCount>> regions(String serverType) {
        return transport.list(Call.get("matchmaking", "regions").query("serverType", serverType), RegionCount.class);
    }
}
