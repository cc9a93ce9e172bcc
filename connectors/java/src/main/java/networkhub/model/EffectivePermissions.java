// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What a player may do.
 *
 * @param explanation With {@code explain=true}: why, in the order asked.
 * @param groups The groups that count, in the order they do.
 * @param permissions What is decided of each node asked for, as it was asked for; null where nothing is. Without
 *     {@code node} all that something is said of, in lower case, wildcards as such.
 * @param revision Rises with every change of the network's groups and of the player's own nodes. A {@code
 *     PERMISSIONS_UPDATED} of this revision or an earlier one is in here already.
 * @param validUntil When this answer changes without a {@code PERMISSIONS_UPDATED}, because a node expires; null:
 *     never.
 */
public record EffectivePermissions(
        List<PermissionExplanation> explanation, List<String> groups, Map<String, Boolean> permissions, UUID playerUuid,
        long revision, Long validUntil) {}
