// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import com.google.gson.JsonElement;

/**
 * A document as it is stored.
 *
 * @param group Whom it is for, such as a type of server.
 * @param namespace What it is about, such as a plugin.
 * @param doc As it was sent.
 */
public record ConfigDocument(
        String group, String namespace, JsonElement doc) {}
