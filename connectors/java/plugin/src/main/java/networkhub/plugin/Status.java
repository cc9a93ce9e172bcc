package networkhub.plugin;

/**
 * Entry of the network in the clients' list of servers.
 *
 * @param text message of the day in MiniMessage; null for the proxy's own
 * @param maxPlayers 0 for the proxy's own
 */
public record Status(String text, int players, int maxPlayers) {}
