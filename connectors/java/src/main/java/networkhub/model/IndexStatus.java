package networkhub.model;

/**
 * An index as the hub has it.
 *
 * @param field the field
 * @param type what it holds
 * @param state {@code READY} or {@code BUILDING}
 */
public record IndexStatus(
        String field, IndexType type, String state) {}
