package networkhub.model;

import com.google.gson.JsonElement;

/**
 * A document with its id.
 *
 * @param id the id
 * @param doc the document
 */
public record StoredDocument(
        String id, JsonElement doc) {}
