package networkhub.model;

/**
 * The language of a player.
 *
 * @param locale its code; null when never set
 * @param source who chose it; null when never set
 */
public record PlayerLanguage(
        String locale, LanguageSource source) {}
