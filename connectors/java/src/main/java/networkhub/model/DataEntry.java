package networkhub.model;

/**
 * A player's data, with where it belongs.
 *
 * @param gameMode the game mode
 * @param namespace the namespace
 * @param data JSON as text, byte for byte as it was written
 * @param version counts the writes; send it back to write only over what was read
 */
public record DataEntry(
        String gameMode, String namespace, String data, long version) {}
