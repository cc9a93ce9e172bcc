package networkhub.model;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What a player may do, all groups considered.
 *
 * @param playerUuid the player
 * @param groups those the player is in, the deciding one first
 * @param permissions by node, wildcards as such, in lower case
 * @param revision rises with every change; a {@code PERMISSIONS_UPDATED} of this one or an earlier one is in here already. Null
 *     where the hub gives none
 * @param validUntil when the answer changes by itself because a node expires, in milliseconds since the epoch; null is never
 */
public record EffectivePermissions(
        UUID playerUuid, List<String> groups, Map<String, Boolean> permissions, Long revision,
        Long validUntil) {}
