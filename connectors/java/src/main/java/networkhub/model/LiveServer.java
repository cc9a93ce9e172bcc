// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;

/**
 * A server that is online.
 *
 * @param currentPlayers Players on it.
 * @param displayName What players call it.
 * @param full There is a limit and it is reached.
 * @param gameState What is going on on it.
 * @param gameType The engine it runs on.
 * @param host Where players reach it.
 * @param joinable Not full and, if it is a minigame, IDLE, WAITING or STARTING.
 * @param lastHeartbeat When it last said that it is there.
 * @param maxPlayers How many fit; 0: no limit.
 * @param minigameServer Its game needs players to start.
 * @param playerCountDisplay For people.
 * @param playersNeededToStart How many of those are missing.
 * @param playersToStart Players its game needs to start; 0: it is no minigame.
 * @param port See {@code host}.
 * @param region Where it is; UNKNOWN where that is not known.
 * @param serverId Its id.
 * @param serverType What kind of server it is; players are matched by it.
 * @param startedAt When it came online.
 * @param totalPlayers The larger of {@code currentPlayers} and the sum over its worlds.
 * @param worlds Its worlds.
 */
public record LiveServer(
        int currentPlayers, String displayName, boolean full, String gameState, String gameType, String host,
        boolean joinable, long lastHeartbeat, int maxPlayers, boolean minigameServer, String playerCountDisplay,
        int playersNeededToStart, int playersToStart, int port, String region, String serverId, String serverType,
        long startedAt, long totalPlayers, List<LiveWorld> worlds) {}
