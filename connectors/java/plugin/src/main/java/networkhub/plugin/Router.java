package networkhub.plugin;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.RetryPolicy;
import networkhub.model.Match;
import networkhub.model.MatchRequest;
import networkhub.model.MatchResult;

/** Finds a player's first server, and another one when theirs fails: by the hub, else by what is known of the servers. */
final class Router {
    /** A player who fell from so many servers is told so instead of being sent around. */
    static final int MAX_TRIES = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final long TRY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private record Tries(Set<String> failed, long since) {}

    private final HubClient client;
    private final Settings settings;
    private final ServerDirectory servers;
    private final Texts texts;
    /** Region of this proxy, which is taken for that of its players; null for none. */
    private final String region;
    private final Map<UUID, Tries> tries = new ConcurrentHashMap<>();

    Router(HubClient client, Settings settings, ServerDirectory servers, Texts texts, String region) {
        this.client = client.withRetries(RetryPolicy.NONE).withTimeout(PATIENCE);
        this.settings = settings;
        this.servers = servers;
        this.texts = texts;
        this.region = region;
    }

    /** The first server of a player. Completes within some seconds; never fails. */
    CompletableFuture<Route> first(UUID player, String name) {
        tries.remove(player);
        return route(player, name, Set.of());
    }

    /** Another server for a player whose server failed or refused them. Completes within some seconds; never fails. */
    CompletableFuture<Route> next(UUID player, String name, String failed) {
        Set<String> all = failed(player, failed);
        return isOver(player, all) ? CompletableFuture.completedFuture(gaveUp(player)) : route(player, name, all);
    }

    /** The same at once, from what is known of the servers. */
    Route nextKnown(UUID player, String failed) {
        Set<String> all = failed(player, failed);
        return isOver(player, all) ? gaveUp(player) : known(player, settings.lobbyType(), all);
    }

    private Set<String> failed(UUID player, String failed) {
        long now = System.nanoTime();
        return tries.compute(player, (key, before) -> {
            boolean isOld = before == null || now - before.since > TRY_NANOS;
            Set<String> all = new HashSet<>(isOld ? Set.of() : before.failed);
            all.add(failed);
            return new Tries(all, isOld ? now : before.since);
        }).failed;
    }

    private boolean isOver(UUID player, Set<String> failed) {
        if (failed.size() < MAX_TRIES) return false;
        tries.remove(player);
        return true;
    }

    private Route gaveUp(UUID player) {
        return Route.none(texts.get(player, "route.gave-up"));
    }

    void left(UUID player) {
        tries.remove(player);
    }

    private CompletableFuture<Route> route(UUID player, String name, Set<String> excluded) {
        String type = settings.lobbyType();
        MatchRequest request = MatchRequest.builder().serverType(type).playerUuid(player).playerName(name).region(region).build();
        return client.matchmaking().find(request)
                .orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .handle((match, failure) -> {
                    if (failure != null) return known(player, type, excluded);
                    if (match.success()) return matched(player, match, type, excluded);
                    // A module of the network decided so; anything else would be a way around it.
                    if (match.result() == MatchResult.POLICY_REJECTED) return Route.none(refusal(player, match));
                    return known(player, type, excluded);
                });
    }

    private Route matched(UUID player, Match match, String type, Set<String> excluded) {
        GameAddress server = of(match);
        return excluded.contains(server.id()) ? known(player, type, excluded) : Route.to(server);
    }

    static GameAddress of(Match match) {
        var server = match.matchedServer();
        return new GameAddress(server.serverId(), server.serverType(), server.host(), server.port(), server.currentPlayers(),
                server.maxPlayers(), server.joinable());
    }

    private String refusal(UUID player, Match match) {
        return texts.get(player, "route.refused", "reason", match.errorMessage() == null ? "" : match.errorMessage());
    }

    /** The emptiest server that is known. */
    private Route known(UUID player, String type, Set<String> excluded) {
        Optional<GameAddress> best = servers.servers().stream()
                .filter(server -> server.type().equalsIgnoreCase(type) && !excluded.contains(server.id()))
                .filter(server -> server.maxPlayers() == 0 || server.players() < server.maxPlayers())
                .min(Comparator.comparing((GameAddress server) -> !server.joinable()).thenComparing(GameAddress::players));
        return best.map(Route::to).orElseGet(() -> Route.none(texts.get(player, "route.none")));
    }
}
