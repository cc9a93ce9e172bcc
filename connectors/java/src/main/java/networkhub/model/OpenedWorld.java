// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * @param errorMessage The reason, for a person; null for a success.
 * @param matchedServer Where it is up.
 * @param status Null where it cannot be had now.
 * @param transferId Names the slot that is kept for the owner for 15 seconds; null where none is needed or free.
 * @param worldInstanceId The lease's number, as {@code WORLD_READY} repeats it; as a {@code worldId}, the world's
 *     name on its server.
 */
public record OpenedWorld(
        String errorMessage, LiveServer matchedServer, WorldOpenStatus status, boolean success, String transferId,
        String worldInstanceId) {}
