// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.UUID;

/**
 * @param errorMessage The reason, for a person; null for a success.
 * @param result {@code SUCCESS}: the command was handed to the server the player is on. Else one of {@code
 *     PLAYER_OFFLINE}, {@code SERVER_NOT_FOUND}, {@code SERVER_OFFLINE}, {@code SERVER_FULL}, {@code WORLD_NOT_FOUND},
 *     {@code ALREADY_ON_SERVER}, {@code NOT_CONNECTED} and {@code FAILED}.
 * @param transferId Under this it is reported and read.
 */
public record TransferOutcome(
        String errorMessage, UUID playerUuid, String result, boolean success, UUID transferId) {}
