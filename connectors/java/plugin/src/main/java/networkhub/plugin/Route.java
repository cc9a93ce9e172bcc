package networkhub.plugin;

/**
 * Server for a player.
 *
 * @param server null if there is none
 * @param text reason for the player why there is none, in MiniMessage; null if there is one
 */
public record Route(GameAddress server, String text) {
    static Route to(GameAddress server) {
        return new Route(server, null);
    }

    static Route none(String text) {
        return new Route(null, text);
    }
}
