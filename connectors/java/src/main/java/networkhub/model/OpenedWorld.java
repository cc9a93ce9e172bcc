package networkhub.model;

/**
 * The answer to opening a world.
 *
 * @param success whether it is or will be up
 * @param status {@code READY} or {@code LOADING}; null without success
 * @param worldInstanceId the lease, as text; null without success
 * @param errorMessage why not, or null
 * @param matchedServer where it is up; null while it is loading
 * @param transferId the reservation for its owner, or null
 */
public record OpenedWorld(
        boolean success, String status, String worldInstanceId, String errorMessage, LiveServer matchedServer,
        String transferId) {}
