package networkhub;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.DataEntry;
import networkhub.model.IncrementedStatistic;
import networkhub.model.IpRecord;
import networkhub.model.LivePlayerProfile;
import networkhub.model.LoadedPlayer;
import networkhub.model.OpenedPlayerSession;
import networkhub.model.PlayerSession;
import networkhub.model.PlayerSessionRequest;
import networkhub.model.PlayerSessionSave;
import networkhub.model.PlayerStatistics;
import networkhub.model.PlayerSummaryPage;
import networkhub.model.SavedSession;

/** Players: profiles, data, sessions, addresses, statistics. */
public final class PlayersApi {
    private final Transport transport;

    PlayersApi(Transport transport) {
        this.transport = transport;
    }

    /** Players ever seen, the latest first. Filters may be null; pages count from 0. */
    public CompletableFuture<PlayerSummaryPage> list(String search, String username, String region, int page,
            int limit) {
        return transport.send(Call.get("players")
                .query("search", search)
                .query("username", username)
                .query("region", region)
                .query("page", page)
                .query("limit", limit), PlayerSummaryPage.class);
    }

    /** A player, with where they are; empty for one who was never seen. */
    public CompletableFuture<Optional<LivePlayerProfile>> get(UUID player, String gameMode) {
        return optional(transport.send(Call.get("players", player).query("gameMode", gameMode), LivePlayerProfile.class));
    }

    /**
     * Loads a joining player, and records an unknown one.
     *
     * @param username the name now, or null
     * @param gameMode whose data is read; null is {@code global}
     * @param gameType the engine, recorded on first sight; or null
     * @param ip located and forgotten; or null
     * @param include what else to answer: {@code permissions}, {@code punishments}, {@code language}, {@code balances},
     *     {@code statistics}, {@code data:NAMESPACE}
     */
    public CompletableFuture<LoadedPlayer> load(UUID player, String username, String gameMode, String gameType,
            String ip, Collection<String> include) {
        return transport.send(Call.post("players", player, "load")
                .query("username", username)
                .query("gameMode", gameMode)
                .query("gameType", gameType)
                .query("ip", ip)
                .query("include", include.isEmpty() ? null : String.join(",", include)), LoadedPlayer.class);
    }

    /** A player's data; empty where none was written. */
    public CompletableFuture<Optional<DataEntry>> getData(UUID player, String gameMode, String namespace) {
        return optional(transport.send(Call.get("players", player, "data", gameMode, namespace), DataEntry.class));
    }

    /**
     * Writes a player's data.
     *
     * @param data JSON as text, at most 256 KiB
     * @param version what was read, so that nothing written meanwhile is lost: fails with {@code version_conflict}, and then read
     *     again and apply the change to that. 0 for what was never written; null overwrites
     */
    public CompletableFuture<DataEntry> putData(UUID player, String gameMode, String namespace, String data,
            Long version) {
        Call call = Call.put("players", player, "data", gameMode, namespace).fields("data", data, "version", version);
        return transport.send(version == null ? call : call.once(), DataEntry.class);
    }

    /** Deletes a player's data; returns whether there was any. */
    public CompletableFuture<Boolean> deleteData(UUID player, String gameMode, String namespace) {
        Call call = Call.delete("players", player, "data", gameMode, namespace);
        return optional(transport.run(call).thenApply(nothing -> true)).thenApply(Optional::isPresent);
    }

    /** The addresses a player was seen with, the current one first. */
    public CompletableFuture<List<IpRecord>> ips(UUID player) {
        return transport.list(Call.get("players", player, "ips"), IpRecord.class);
    }

    /** A player's statistics; null is the game mode {@code global}. */
    public CompletableFuture<PlayerStatistics> statistics(UUID player, String gameMode) {
        return transport.send(Call.get("players", player, "statistics").query("gameMode", gameMode),
                PlayerStatistics.class);
    }

    /** Adds to a player's statistic, in the day, week, month and lifetime; null is the game mode {@code global}. */
    public CompletableFuture<IncrementedStatistic> increment(UUID player, String name, double amount, String gameMode) {
        return transport.send(Call.post("players", player, "statistics", "increment")
                .fields("name", name, "gameMode", gameMode, "amount", amount)
                .keyed(), IncrementedStatistic.class);
    }

    /**
     * Opens a player's session: the right of this server alone to write the player's data. Waits up to {@code waitMs} for the server
     * that has it. A connector with player data does so by itself.
     */
    public CompletableFuture<OpenedPlayerSession> openSession(UUID player, PlayerSessionRequest request) {
        return transport.send(Call.post("players", player, "session").body(request), OpenedPlayerSession.class);
    }

    /** Saves under a session's fence, all or none. A repeat of the last save is answered as before. */
    public CompletableFuture<SavedSession> saveSession(UUID player, long fence, PlayerSessionSave save) {
        return transport.send(Call.put("players", player, "session", fence).body(save), SavedSession.class);
    }

    /** A player's newest session; empty where there never was one. */
    public CompletableFuture<Optional<PlayerSession>> session(UUID player) {
        return optional(transport.send(Call.get("players", player, "session"), PlayerSession.class));
    }

    /** Empty for 404. */
    static <T> CompletableFuture<Optional<T>> optional(CompletableFuture<T> answer) {
        return answer.thenApply(Optional::of).exceptionally(failure -> {
            HubException error = HubException.of(failure);
            if (error.status() == 404) return Optional.empty();
            throw error;
        });
    }
}
