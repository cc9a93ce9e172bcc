// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;

/**
 * A group with its nodes.
 *
 * @param permissions Without those that have expired; by node, context and world.
 * @param priority Of several groups the one with the higher priority comes first.
 */
public record PermissionGroup(
        String chatNameColor, String chatPrefix, String chatPrefixColor, String displayName, String groupId,
        List<PermissionNode> permissions, long priority) {}
