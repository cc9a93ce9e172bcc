package networkhub.plugin;

/**
 * Answer whether a player may log in.
 *
 * @param text reason for the player, in MiniMessage; null if they may
 */
public record Verdict(String text) {
    /** The player may log in. */
    public static final Verdict ALLOWED = new Verdict(null);

    /** True if the player may log in. */
    public boolean isAllowed() {
        return text == null;
    }
}
