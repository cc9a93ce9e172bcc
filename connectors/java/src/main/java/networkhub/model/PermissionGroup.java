package networkhub.model;

import java.util.List;

/**
 * A group of permissions.
 *
 * @param groupId names it
 * @param displayName what players read, or null
 * @param priority the higher one decides
 * @param chatPrefix in front of names in chat, or null
 * @param chatPrefixColor its color, or null
 * @param chatNameColor the color of names, or null
 * @param permissions its nodes
 */
public record PermissionGroup(
        String groupId, String displayName, Integer priority, String chatPrefix, String chatPrefixColor,
        String chatNameColor, List<PermissionNode> permissions) {}
