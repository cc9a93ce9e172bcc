// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * A namespace's data in a profile.
 *
 * @param data The JSON text as it was written.
 */
public record NamespaceData(
        String data, String namespace, long version) {}
