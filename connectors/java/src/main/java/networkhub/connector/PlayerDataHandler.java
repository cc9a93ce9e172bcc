package networkhub.connector;

import java.util.Map;
import java.util.UUID;

/**
 * A plugin's way to put a player's data into the game and to take it out again, for the namespaces that
 * {@link ConnectorOptions#playerData} names. Every method is called where the player may be touched ({@link GameServer#runFor});
 * {@link #capture} also in the caller of {@link HubConnector#playerLeft} and {@link HubConnector#stop}.
 */
public interface PlayerDataHandler {
    /** Reason for the end of a player's data on this server while the player may still be here. */
    enum End {
        /** Another server asked for the player. What was captured is saved; freeze the player. */
        REQUESTED,
        /** The session is over, and what was not saved is lost. Forget what you have of the player. */
        LOST,
        /** The hub does not open the session, or does not take what is to be saved. */
        REFUSED
    }

    /**
     * Puts a player's data into the game, once for each session. Never called with the data of a session that this server has no
     * longer.
     *
     * @param data JSON as text by namespace; what was never written is absent
     */
    default void apply(UUID player, Map<String, String> data) {}

    /** Takes a player's data out of the game: JSON as text by namespace. What is absent stays as it was. */
    default Map<String, String> capture(UUID player) {
        return Map.of();
    }

    /**
     * The player's data is no longer this server's to write. Not called when the player has left. If they stay after all, {@link #apply}
     * comes again once no other server has them.
     */
    default void ended(UUID player, End reason) {}
}
