package networkhub.model;

/** Who chose a language. */
public enum LanguageSource {
    /** The player; do not ask again. */
    PLAYER,
    /** Detected; it may be detected again. */
    AUTO
}
