// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * A language the catalog speaks.
 *
 * @param displayName A name for people; the locale itself until one is given.
 * @param enabled Whether players are to be offered it.
 * @param isDefault Exactly one is.
 * @param locale As it was first sent.
 */
public record Locale(
        String displayName, boolean enabled, boolean isDefault, String locale) {}
