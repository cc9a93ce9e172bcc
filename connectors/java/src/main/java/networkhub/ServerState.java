package networkhub;

import com.google.gson.JsonObject;
import java.util.List;

/**
 * What changes while a server runs: its game's state and its worlds. Heartbeats carry it.
 *
 * @param gameState such as {@code WAITING} or {@code PLAYING}; null leaves it as it was
 * @param playersToStart players that its game needs; null leaves it as it was, 0 is no minigame
 * @param worlds all its worlds; null leaves them as they were
 */
public record ServerState(String gameState, Integer playersToStart, List<WorldState> worlds) {
    /** Nothing to report. */
    public static final ServerState EMPTY = new ServerState(null, null, null);

    /**
     * A world of a server.
     *
     * @param worldId names it on its server
     * @param displayName what players call it, or null
     * @param currentPlayers players in it
     * @param maxPlayers how many fit; 0 is no limit
     * @param gameState its game's state, or null
     * @param playersToStart players that its game needs; 0 is no minigame
     * @param worldType what matchmaking finds it by, or null
     */
    public record WorldState(
            String worldId, String displayName, int currentPlayers, int maxPlayers, String gameState,
            int playersToStart, String worldType) {}

    JsonObject toJson() {
        return Json.GSON.toJsonTree(this).getAsJsonObject();
    }
}
