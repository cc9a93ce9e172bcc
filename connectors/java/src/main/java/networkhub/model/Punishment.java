// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.UUID;

/**
 * A punishment.
 *
 * @param active In force now. A kick never is.
 * @param durationMs Milliseconds; null is permanent.
 * @param expiresAt When its time runs out; null is never.
 * @param id Counted from 1 in the network.
 * @param ipAddress The address it was made for, or the player's when it was made.
 * @param ipBased Whether it covers addresses: the one below, and those the player is seen with later.
 * @param playerName The name when it was made.
 * @param playerUuid Null for one by name alone, or of an address alone.
 */
public record Punishment(
        boolean active, Long durationMs, Long expiresAt, long id, String ipAddress, boolean ipBased, long issuedAt,
        String issuerName, UUID issuerUuid, String playerName, UUID playerUuid, String reason, PunishmentKind type) {}
