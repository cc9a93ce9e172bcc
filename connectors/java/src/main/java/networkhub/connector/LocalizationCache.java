package networkhub.connector;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import networkhub.HubClient;
import networkhub.model.LocalizationCatalog;
import networkhub.model.LanguageSource;
import networkhub.model.PlayerLanguage;

/**
 * Messages in the players' languages. Answers immediately, from memory, on any thread. While the hub is away it answers what was
 * known last, and before the first answer the defaults of the plugin.
 */
public final class LocalizationCache {
    private record Language(PlayerLanguage answer, long askedAtNanos) {}

    private final HubClient client;
    private final Collection<String> namespaces;
    /** By language, then by key. */
    private final Map<String, Map<String, String>> defaults;
    private final String defaultLocale;
    private final Map<UUID, Language> languages = new ConcurrentHashMap<>();
    private volatile LocalizationCatalog catalog;

    LocalizationCache(HubClient client, Collection<String> namespaces, Map<String, Map<String, String>> defaults,
            String defaultLocale) {
        this.client = client;
        this.namespaces = List.copyOf(namespaces);
        this.defaults = Map.copyOf(defaults);
        this.defaultLocale = defaultLocale;
    }

    /** A message in a player's language. */
    public String text(UUID player, String key) {
        return text(locale(player), key);
    }

    /** A message in a language, else in the default language, else as the plugin has it; else the key. */
    public String text(String locale, String key) {
        LocalizationCatalog current = catalog;
        if (current != null) {
            for (String candidate : new String[] {locale, current.defaultLocale()}) {
                String text = current.messages().getOrDefault(candidate, Map.of()).get(key);
                if (text != null) return text;
            }
        }
        String text = defaults.getOrDefault(locale, Map.of()).get(key);
        return text != null ? text : defaults.getOrDefault(defaultLocale, Map.of()).getOrDefault(key, key);
    }

    /** A player's language, or the default one. */
    public String locale(UUID player) {
        PlayerLanguage language = language(player);
        if (language != null && language.locale() != null) return language.locale();
        LocalizationCatalog current = catalog;
        return current == null ? defaultLocale : current.defaultLocale();
    }

    /** Returns the known language of a player, with its source: a chosen one need not be asked for again. Null where nothing is known. */
    public PlayerLanguage language(UUID player) {
        Language known = languages.get(player);
        return known == null ? null : known.answer;
    }

    /** The catalog as it was read last; null before the first time. */
    public LocalizationCatalog catalog() {
        return catalog;
    }

    /** Sets a player's language at the hub and here; a null locale unsets it. */
    public CompletableFuture<PlayerLanguage> setLanguage(UUID player, String locale, LanguageSource source) {
        return client.localization().setLanguage(player, locale, source, null).thenApply(stored -> {
            // From now on: what was asked meanwhile may not show it.
            put(player, stored, System.nanoTime());
            return stored;
        });
    }

    /** An answer to a question that was asked at this time; dropped where a later one was answered before. */
    void put(UUID player, PlayerLanguage answer, long askedAtNanos) {
        languages.merge(player, new Language(answer, askedAtNanos),
                (known, read) -> known.askedAtNanos - read.askedAtNanos > 0 ? known : read);
    }

    void prune(Set<UUID> online) {
        languages.keySet().retainAll(online);
    }

    CompletableFuture<Void> refreshLanguage(UUID player) {
        long askedAt = System.nanoTime();
        return client.localization().language(player).thenAccept(language -> put(player, language, askedAt));
    }

    CompletableFuture<Void> refreshCatalog() {
        return client.localization().catalog(namespaces).thenAccept(read -> {
            // An answer that was overtaken by a newer one is dropped.
            LocalizationCatalog current = catalog;
            if (current == null || read.version() >= current.version()) catalog = read;
        });
    }

    /** Registers the plugin's defaults under the first namespace. */
    CompletableFuture<Void> registerDefaults() {
        CompletableFuture<?>[] registered = defaults.entrySet().stream()
                .map(locale -> client.localization().registerDefaults(
                        namespaces.iterator().next(), locale.getKey(), locale.getValue()))
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(registered);
    }
}
