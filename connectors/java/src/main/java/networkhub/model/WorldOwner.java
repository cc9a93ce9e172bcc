// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/** Whose world it is. */
public record WorldOwner(
        String id, String scope) {}
