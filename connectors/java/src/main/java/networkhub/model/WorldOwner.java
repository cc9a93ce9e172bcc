package networkhub.model;

/**
 * Whose world it is.
 *
 * @param scope the kind of owner, such as {@code player}
 * @param id which one
 */
public record WorldOwner(
        String scope, String id) {}
