// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/** How a player's language is known. */
public enum LanguageSource {
    PLAYER,
    AUTO,
    /** A value that is newer than this library. */
    UNKNOWN
}
