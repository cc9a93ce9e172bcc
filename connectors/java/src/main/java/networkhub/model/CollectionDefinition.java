// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;
import java.util.Objects;

/**
 * @param indexes The fields to find documents by, at most 16.
 * @param key The field of a document that, where it is there, must hold the document's id.
 */
public record CollectionDefinition(
        List<CollectionIndex> indexes, String key, String name) {
    /** Returns an empty builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets the fields of a {@link CollectionDefinition}; name must be set. */
    public static final class Builder {
        private List<CollectionIndex> indexes;
        private String key;
        private String name;

        private Builder() {}

        /** The fields to find documents by, at most 16. */
        public Builder indexes(List<CollectionIndex> indexes) {
            this.indexes = indexes;
            return this;
        }

        /** The field of a document that, where it is there, must hold the document's id. */
        public Builder key(String key) {
            this.key = key;
            return this;
        }

        /** Sets {@code name}. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** Returns the {@link CollectionDefinition}. */
        public CollectionDefinition build() {
            return new CollectionDefinition(indexes, key, Objects.requireNonNull(name, "name"));
        }
    }
}
