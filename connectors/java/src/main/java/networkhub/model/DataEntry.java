// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * A namespace's data.
 *
 * @param data The JSON text as it was written.
 * @param version Counts the writes, from 1. Name it in a write that must not undo another's.
 */
public record DataEntry(
        String data, String gameMode, String namespace, long version) {}
