package networkhub.model;

/**
 * A world of a server that is online.
 *
 * @param worldId names it on its server
 * @param displayName what players call it, or null
 * @param currentPlayers players in it
 * @param maxPlayers how many fit; 0 is no limit
 * @param gameState such as {@code WAITING} or {@code PLAYING}, or null
 * @param playersToStart what its game needs; 0 where it is no minigame
 * @param worldType what matchmaking finds it by, or null
 * @param full whether the limit is reached
 * @param playerCountDisplay such as {@code 12/100}
 * @param joinable not full and in a state that lets players in
 * @param minigameWorld whether its game needs players to start
 * @param playersNeededToStart how many are missing
 */
public record World(
        String worldId, String displayName, int currentPlayers, int maxPlayers, String gameState,
        int playersToStart, String worldType, boolean full, String playerCountDisplay, boolean joinable,
        boolean minigameWorld, int playersNeededToStart) {}
