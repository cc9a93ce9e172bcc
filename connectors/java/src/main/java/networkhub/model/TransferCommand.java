package networkhub.model;

import java.util.UUID;

/**
 * A signed command to send a player to another server.
 *
 * @param transferId the transfer; a command is good for one use
 * @param playerUuid who is to be sent
 * @param targetServerId where to
 * @param targetWorldId the world there, or null
 * @param host the target's address
 * @param port the target's port
 * @param issuedAt milliseconds since the epoch
 * @param expiresAt until when the command is good, in milliseconds since the epoch
 * @param signature one or several, separated by spaces
 */
public record TransferCommand(
        String transferId, UUID playerUuid, String targetServerId, String targetWorldId, String host,
        int port, long issuedAt, long expiresAt, String signature) {}
