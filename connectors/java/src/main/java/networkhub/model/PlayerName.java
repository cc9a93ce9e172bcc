package networkhub.model;

import java.util.UUID;

/**
 * A player with a name, for heartbeats.
 *
 * @param uuid the player
 * @param name the name, or null
 */
public record PlayerName(
        UUID uuid, String name) {}
