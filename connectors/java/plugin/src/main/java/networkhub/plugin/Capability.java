package networkhub.plugin;

/** Services of the plugin, of which each platform has some. */
public enum Capability {
    /** The hub knows which players are online and where. */
    PRESENCE("reports its players to the hub"),
    /** Bans are checked before a login and enforced at once. */
    BANS("enforces bans"),
    /** Maintenance keeps players out who are not on the list. */
    MAINTENANCE("maintenance list"),
    /** Muted players cannot chat. */
    MUTES("enforces mutes"),
    /** Lines of chat go through the hub's modules to all servers. */
    CHAT("network chat and filters"),
    /** The hub answers permissions. */
    PERMISSIONS("permissions"),
    /** Commands of the plugin. */
    COMMANDS("commands with completion"),
    /** The hub runs console commands and sees what they print. */
    CONSOLE("console commands from the hub"),
    /** The hub sends its players elsewhere. */
    TRANSFERS("carries out transfers"),
    /** Players are matched to their first server, and to another one when theirs fails. */
    ROUTING("first server and fallback by matchmaking"),
    /** The hub's servers are the proxy's servers. */
    SERVER_LIST("server list from the hub"),
    /** The server list of clients shows the network's message and counts. */
    STATUS("message of the day and player counts"),
    /** Plugins use the hub's money through Vault, where it is installed. */
    VAULT("money through Vault"),
    /** Texts of other plugins show values of the hub, where PlaceholderAPI is installed. */
    PLACEHOLDERS("placeholders through PlaceholderAPI"),
    /** Inventories and the like move with the players. */
    PLAYER_DATA("inventories across servers");

    private final String title;

    Capability(String title) {
        this.title = title;
    }

    /** Description for people. */
    public String title() {
        return title;
    }
}
