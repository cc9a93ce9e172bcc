package networkhub.model;

import java.util.List;

/**
 * A collection with its indexes.
 *
 * @param name the collection
 * @param key the field that holds a document's id, or null
 * @param indexes what documents are found by
 */
public record CollectionDefinition(
        String name, String key, List<CollectionIndex> indexes) {}
