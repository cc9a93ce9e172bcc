package networkhub;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.InsertedMessages;
import networkhub.model.LanguageSource;
import networkhub.model.Locale;
import networkhub.model.LocalizationCatalog;
import networkhub.model.PlayerLanguage;

/** Messages and languages. */
public final class LocalizationApi {
    private final Transport transport;

    LocalizationApi(Transport transport) {
        this.transport = transport;
    }

    /** The messages of these namespaces; none is all. Of two namespaces with the same key the first one named counts. */
    public CompletableFuture<LocalizationCatalog> catalog(Collection<String> namespaces) {
        String named = namespaces.isEmpty() ? null : String.join(",", namespaces);
        return transport.send(Call.get("localization", "catalog").query("namespace", named), LocalizationCatalog.class);
    }

    /** Adds the messages that are missing; never overwrites one, so do it at every start. Returns the number of new ones. */
    public CompletableFuture<Long> registerDefaults(String namespace, String locale, Map<String, String> entries) {
        return transport.send(Call.post("localization", "defaults")
                .fields("namespace", namespace, "locale", locale, "entries", entries), InsertedMessages.class)
                .thenApply(InsertedMessages::inserted);
    }

    /** The languages, the default first. */
    public CompletableFuture<List<Locale>> locales() {
        return transport.list(Call.get("localization", "locales"), Locale.class);
    }

    /** A player's language. */
    public CompletableFuture<PlayerLanguage> language(UUID player) {
        return transport.send(Call.get("localization", "players", player, "locale"), PlayerLanguage.class);
    }

    /**
     * Sets a player's language.
     *
     * @param locale null unsets it
     * @param username records a player who was never seen; or null
     */
    public CompletableFuture<PlayerLanguage> setLanguage(UUID player, String locale, LanguageSource source,
            String username) {
        return transport.send(Call.put("localization", "players", player, "locale")
                .query("username", username)
                .fields("locale", locale, "source", source), PlayerLanguage.class);
    }
}
