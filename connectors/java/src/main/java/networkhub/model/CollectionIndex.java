package networkhub.model;

/**
 * A field that documents are found by.
 *
 * @param field the field, with dots for nested ones
 * @param type what it holds
 */
public record CollectionIndex(
        String field, IndexType type) {}
