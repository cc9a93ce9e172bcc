// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.Objects;

/**
 * A field by which documents are found.
 *
 * @param field Names with dots between for a field in nested objects, such as {@code owner.name}.
 * @param type What the index holds.
 */
public record CollectionIndex(
        String field, IndexType type) {
    /** Returns an empty builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets the fields of a {@link CollectionIndex}; field and type must be set. */
    public static final class Builder {
        private String field;
        private IndexType type;

        private Builder() {}

        /** Names with dots between for a field in nested objects, such as {@code owner.name}. */
        public Builder field(String field) {
            this.field = field;
            return this;
        }

        /** What the index holds. */
        public Builder type(IndexType type) {
            this.type = type;
            return this;
        }

        /** Returns the {@link CollectionIndex}. */
        public CollectionIndex build() {
            return new CollectionIndex(Objects.requireNonNull(field, "field"), Objects.requireNonNull(type, "type"));
        }
    }
}
