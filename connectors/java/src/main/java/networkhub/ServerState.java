package networkhub;

import com.google.gson.JsonObject;
import java.util.List;
import networkhub.model.WorldReport;

/**
 * A server's changing state: its game's state and its worlds. Heartbeats carry it.
 *
 * @param gameState such as {@code WAITING} or {@code PLAYING}; null leaves it as it was
 * @param playersToStart players that its game needs; null leaves it as it was, 0 is no minigame
 * @param worlds all its worlds; null leaves them as they were
 */
public record ServerState(String gameState, Integer playersToStart, List<WorldReport> worlds) {
    /** The state of a server without a game or worlds. */
    public static final ServerState EMPTY = new ServerState(null, null, null);

    JsonObject toJson() {
        return Json.GSON.toJsonTree(this).getAsJsonObject();
    }
}
