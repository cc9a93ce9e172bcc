package networkhub.model;

import com.google.gson.JsonElement;

/**
 * A config document.
 *
 * @param group its group
 * @param namespace its name in the group
 * @param doc the document
 */
public record ConfigDocument(
        String group, String namespace, JsonElement doc) {}
