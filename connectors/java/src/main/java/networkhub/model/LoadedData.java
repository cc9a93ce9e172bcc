package networkhub.model;

/**
 * What a load includes of a namespace named as {@code data:NAMESPACE}.
 *
 * @param data JSON as text
 * @param version counts the writes
 */
public record LoadedData(
        String data, long version) {}
