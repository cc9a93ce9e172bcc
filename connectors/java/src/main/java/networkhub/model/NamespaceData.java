package networkhub.model;

/**
 * A player's data in one namespace of a game mode.
 *
 * @param namespace the namespace
 * @param data JSON as text, byte for byte as it was written
 * @param version counts the writes; send it back to write only over what was read
 */
public record NamespaceData(
        String namespace, String data, long version) {}
