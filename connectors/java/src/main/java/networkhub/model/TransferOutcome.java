package networkhub.model;

import java.util.UUID;

/**
 * How asking for a transfer went. SUCCESS means that the command is on its way.
 *
 * @param transferId the transfer
 * @param playerUuid the player
 * @param result {@code SUCCESS}, or why not, such as {@code PLAYER_OFFLINE} or {@code NOT_CONNECTED}
 * @param errorMessage the reason as a sentence, or null
 * @param success whether it is SUCCESS
 */
public record TransferOutcome(
        String transferId, UUID playerUuid, String result, String errorMessage, boolean success) {}
