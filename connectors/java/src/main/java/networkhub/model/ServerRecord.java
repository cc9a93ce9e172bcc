package networkhub.model;

/**
 * A server of the registry, online or not.
 *
 * @param serverId the server
 * @param serverType its type
 * @param gameType its engine, or null
 * @param role game server or proxy
 * @param connectivity {@code CONNECTED}, {@code HEARTBEAT_ONLY} or {@code DISCONNECTED}
 * @param displayName what players call it, or null
 * @param maxPlayers how many fit; 0 is no limit
 * @param status {@code ONLINE}, {@code OFFLINE} or {@code PROVISIONING}
 * @param lastHost where players reached it last
 * @param lastPort where players reached it last
 * @param firstSeen milliseconds since the epoch
 * @param lastSeen milliseconds since the epoch
 * @param online whether its heartbeats come
 * @param live what it reports, if online
 * @param geoRegion its region
 * @param geoCountry its country, or null
 */
public record ServerRecord(
        String serverId, String serverType, String gameType, Role role, String connectivity,
        String displayName, int maxPlayers, String status, String lastHost, int lastPort, long firstSeen,
        long lastSeen, boolean online, LiveServer live, String geoRegion, String geoCountry) {}
