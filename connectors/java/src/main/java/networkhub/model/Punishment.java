package networkhub.model;

import java.util.UUID;

/**
 * A punishment, active or not.
 *
 * @param id its number
 * @param playerUuid whom it concerns; null for one of a name or an address
 * @param playerName the name, or null
 * @param type its kind
 * @param reason why, or null
 * @param durationMs how long, in milliseconds; null is permanent
 * @param expiresAt milliseconds since the epoch; null is never
 * @param ipBased whether it also covers the player's address
 * @param active whether it was in force when the hub answered
 * @param ipAddress the address it covers, or null
 * @param issuerUuid who punished, or null
 * @param issuerName who punished, or null
 * @param issuedAt milliseconds since the epoch
 */
public record Punishment(
        long id, UUID playerUuid, String playerName, PunishmentType type, String reason, Long durationMs,
        Long expiresAt, boolean ipBased, boolean active, String ipAddress, UUID issuerUuid, String issuerName,
        long issuedAt) {}
