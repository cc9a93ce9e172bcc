// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * Where a player is.
 *
 * @param worldId Null until a world was said.
 */
public record PlayerConnection(
        String serverId, String serverType, String worldId) {}
