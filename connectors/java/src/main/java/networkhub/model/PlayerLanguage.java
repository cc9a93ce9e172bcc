// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/** A player's language; both fields are null while it was never set, or was unset. */
public record PlayerLanguage(
        String locale, LanguageSource source) {}
