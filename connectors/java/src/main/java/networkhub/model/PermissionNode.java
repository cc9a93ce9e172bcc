package networkhub.model;

/**
 * Allows or denies something.
 *
 * @param node such as {@code essentials.fly}
 * @param value false denies; null is true
 * @param context where it applies, as {@code server=lobby,gamemode=skyblock}; null is everywhere
 * @param world the world it applies in; null is everywhere
 * @param expiresAt milliseconds since the epoch; null is never
 */
public record PermissionNode(
        String node, Boolean value, String context, String world, Long expiresAt) {}
