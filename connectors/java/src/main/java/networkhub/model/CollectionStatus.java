package networkhub.model;

import java.util.List;

/**
 * A collection as the hub has it.
 *
 * @param name the collection
 * @param key the field that holds a document's id, or null
 * @param indexes all its indexes
 */
public record CollectionStatus(
        String name, String key, List<IndexStatus> indexes) {}
