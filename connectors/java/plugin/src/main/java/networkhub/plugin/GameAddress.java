package networkhub.plugin;

/**
 * A game server of the network.
 *
 * @param id its id at the hub, and its name on a proxy
 * @param maxPlayers maximum number of players; 0: no limit
 */
public record GameAddress(String id, String type, String host, int port, int players, int maxPlayers, boolean joinable) {
    /** True if it is the same server. */
    boolean hasSameId(GameAddress other) {
        return id.equals(other.id);
    }

    /** True if it has the same id, host and port. */
    public boolean hasSameAddress(GameAddress other) {
        return hasSameId(other) && host.equals(other.host) && port == other.port;
    }
}
