package networkhub.model;

/**
 * A language of a network.
 *
 * @param locale its code
 * @param displayName what players read
 * @param isDefault whether it is the default
 * @param enabled whether players may choose it
 */
public record Locale(
        String locale, String displayName, boolean isDefault, boolean enabled) {}
