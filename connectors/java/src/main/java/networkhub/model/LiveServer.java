package networkhub.model;

import java.util.List;

/**
 * A server that is online.
 *
 * @param serverId the server
 * @param serverType what matchmaking finds it by
 * @param gameType its engine, or null
 * @param displayName what players call it, or null
 * @param currentPlayers players on it
 * @param maxPlayers how many fit; 0 is no limit
 * @param host where players reach it
 * @param port where players reach it
 * @param startedAt milliseconds since the epoch
 * @param lastHeartbeat milliseconds since the epoch
 * @param gameState such as {@code WAITING} or {@code PLAYING}, or null
 * @param playersToStart what its game needs; 0 where it is no minigame
 * @param region its region
 * @param worlds its worlds
 * @param full whether the limit is reached
 * @param playerCountDisplay such as {@code 12/100}
 * @param joinable online, not full and in a state that lets players in
 * @param minigameServer whether its game needs players to start
 * @param playersNeededToStart how many are missing
 * @param totalPlayers the larger of its players and those of its worlds
 */
public record LiveServer(
        String serverId, String serverType, String gameType, String displayName, int currentPlayers,
        int maxPlayers, String host, int port, long startedAt, long lastHeartbeat, String gameState,
        int playersToStart, String region, List<World> worlds, boolean full, String playerCountDisplay,
        boolean joinable, boolean minigameServer, int playersNeededToStart, int totalPlayers) {}
