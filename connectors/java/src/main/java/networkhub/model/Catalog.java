package networkhub.model;

import java.util.List;
import java.util.Map;

/**
 * All messages of a network, or of some namespaces.
 *
 * @param version rises when a message changes
 * @param defaultLocale where a message is looked up that a language lacks
 * @param locales the languages, the default first
 * @param messages by language, then by key
 */
public record Catalog(
        long version, String defaultLocale, List<Locale> locales, Map<String, Map<String, String>> messages) {}
