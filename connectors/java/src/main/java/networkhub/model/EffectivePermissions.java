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
 * @param revision rises when the answer may have changed; null where the hub gives none
 */
public record EffectivePermissions(
        UUID playerUuid, List<String> groups, Map<String, Boolean> permissions, Long revision) {}
