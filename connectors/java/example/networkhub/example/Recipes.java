package networkhub.example;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import networkhub.model.MatchRequest;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.WorldRequest;
import networkhub.connector.CachedConfig;
import networkhub.connector.HubConnector;
import networkhub.model.DataEntry;
import networkhub.model.Match;
import networkhub.model.TransactionReceipt;
import networkhub.model.TransferOutcome;

/** Recipes of the guide. */
public final class Recipes {
    private final HubConnector hub;
    private final HubClient client;

    public Recipes(HubConnector hub) {
        this.hub = hub;
        this.client = hub.client();
    }

    /** Sells something; false if the player cannot pay. */
    public CompletableFuture<Boolean> buy(UUID player, BigDecimal price) {
        return client.economy().spend(player, "coins", price, "sword").thenApply(spent -> true).exceptionally(failure -> {
            HubException error = HubException.of(failure);
            if (error.is("insufficient_funds")) return false;
            throw error;
        });
    }

    /** Moves money between players. */
    public CompletableFuture<TransactionReceipt> pay(UUID from, UUID to, BigDecimal amount) {
        return client.economy().pay(from, to, "coins", amount, "/pay");
    }

    /** Changes a player's data so that no other server's change is lost. */
    public CompletableFuture<DataEntry> change(UUID player, UnaryOperator<JsonObject> change) {
        return client.players().getData(player, "skyblock", "profile")
                .thenCompose(read -> client.players().putData(player, "skyblock", "profile",
                        change.apply(parse(read)).toString(), read.map(DataEntry::version).orElse(0L)))
                .exceptionallyCompose(failure -> HubException.of(failure).is("version_conflict")
                        ? change(player, change)
                        : CompletableFuture.failedFuture(failure));
    }

    private static JsonObject parse(Optional<DataEntry> read) {
        return JsonParser.parseString(read.map(DataEntry::data).orElse("{}")).getAsJsonObject();
    }

    /** Finds a place for a party and sends everybody there. */
    public CompletableFuture<Match> playTogether(UUID leader, String name, List<UUID> party) {
        MatchRequest request = MatchRequest.builder()
                .serverType("bedwars")
                .playerUuid(leader)
                .playerName(name)
                .party(party)
                .build();
        return client.matchmaking().find(request).thenApply(match -> {
            if (!match.success()) return match;
            for (UUID player : party) hub.transfer(player, match.matchedServer().serverId(), null);
            return match;
        });
    }

    /** Opens a player's island, wherever it runs, and sends them there. */
    public CompletableFuture<TransferOutcome> visitIsland(UUID player) {
        WorldRequest island = WorldRequest.builder().gameId("islands").ownerScope("player").ownerId(player.toString()).build();
        return hub.openWorld(island).thenCompose(world -> {
            if (!world.success()) return CompletableFuture.failedFuture(new HubException("no_island", world.errorMessage()));
            return hub.transfer(player, world.matchedServer().serverId(), world.worldInstanceId());
        });
    }

    /** A setting that operators change while the server runs. */
    public CachedConfig rounds() {
        return hub.config("bedwars", "rules", JsonParser.parseString("{\"rounds\": 3}"))
                .onChange(rules -> System.out.println("rounds are " + rules.getAsJsonObject().get("rounds")));
    }
}
