// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * What is allowed or denied, where and until when. Known by {@code node}, {@code context} and {@code world} together.
 *
 * @param context {@code key=value} pairs with commas between; a word alone is a server; absent, null, blank or
 *     {@code global} is everywhere.
 * @param expiresAt When it ends; absent or null is never.
 * @param node Such as {@code essentials.fly}, {@code essentials.*}, {@code *}, or {@code group.vip} for membership
 *     of a group.
 * @param value {@code false} denies; {@code true} when absent.
 * @param world The world it applies in; absent, null, blank or {@code global} is every world.
 */
public record PermissionNode(
        String context, Long expiresAt, String node, boolean value, String world) {}
