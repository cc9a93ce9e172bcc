package networkhub.plugin;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import networkhub.connector.HubConnector;

/**
 * Texts for players in their language, in MiniMessage: the network's, from the namespace {@code network-hub} of its catalog, else those
 * of this plugin. {@code {name}} stands for a value.
 */
public final class Texts {
    static final String NAMESPACE = "network-hub";
    /** The languages that the plugin brings along. */
    static final Map<String, Map<String, String>> DEFAULTS = Map.of("en", read("en"), "de", read("de"));

    /** A value that is MiniMessage itself. */
    record Part(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    private volatile HubConnector hub;

    /** Takes the connector whose catalog is used from now on; null uses the plugin's texts. */
    void use(HubConnector hub) {
        this.hub = hub;
    }

    /**
     * Returns a text for a player, or for the console if null.
     *
     * @param namesAndValues names of the text's values and the values, in turn; values are shown as they are, markup included
     */
    public String get(UUID player, String key, Object... namesAndValues) {
        HubConnector current = hub;
        String text;
        if (current == null) {
            text = DEFAULTS.get("en").getOrDefault(key, key);
        } else {
            text = player == null
                    ? current.localization().text("en", key)
                    : current.localization().text(player, key);
        }
        return fill(text, namesAndValues);
    }

    /** Replaces the names in one pass, so that a value that looks like a name stays. */
    static String fill(String text, Object... namesAndValues) {
        StringBuilder filled = new StringBuilder();
        int from = 0;
        while (true) {
            int start = text.indexOf('{', from);
            int end = start < 0 ? -1 : text.indexOf('}', start);
            if (end < 0) return filled.append(text, from, text.length()).toString();
            filled.append(text, from, start);
            String name = text.substring(start + 1, end);
            String value = text.substring(start, end + 1);
            for (int i = 0; i + 1 < namesAndValues.length; i += 2) {
                if (name.equals(namesAndValues[i])) value = shown(namesAndValues[i + 1]);
            }
            filled.append(value);
            from = end + 1;
        }
    }

    private static String shown(Object value) {
        return value instanceof Part part ? part.text : Markup.escape(String.valueOf(value));
    }

    private static Map<String, String> read(String locale) {
        Properties file = new Properties();
        try (InputStream stream = Texts.class.getResourceAsStream("texts_" + locale + ".properties")) {
            file.load(new InputStreamReader(stream, StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        Map<String, String> texts = new TreeMap<>();
        file.forEach((key, text) -> texts.put((String) key, (String) text));
        return Map.copyOf(texts);
    }
}
