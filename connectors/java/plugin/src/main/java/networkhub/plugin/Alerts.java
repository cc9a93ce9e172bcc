package networkhub.plugin;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import networkhub.connector.CachedConfig;
import networkhub.connector.HubConnector;

/**
 * Texts of the staff to all players of the network. The latest one is a config document, of which all servers hear; the game servers show
 * it.
 */
final class Alerts {
    static final String NAMESPACE = "network-hub-alert";
    /** Age from which one is no longer shown, as by a server that starts. */
    private static final long MAX_AGE_MS = TimeUnit.MINUTES.toMillis(1);

    private final HubConnector hub;
    private final CachedConfig latest;

    Alerts(HubConnector hub) {
        this.hub = hub;
        latest = hub.config(Settings.GROUP, NAMESPACE, document("", 0));
    }

    /** Shows those of now on to the players here. */
    void show(Platform platform, Texts texts) {
        latest.onChange(found -> {
            String text = field(found, "text", "");
            String at = field(found, "at", "0");
            hub.hubTime().thenAccept(now -> {
                boolean isNew = at.matches("\\d{1,18}") && now - Long.parseLong(at) < MAX_AGE_MS;
                if (!text.isBlank() && isNew) platform.broadcast(texts.get(null, "alert.line", "text", new Texts.Part(text)));
            });
        });
    }

    CompletableFuture<?> send(String text) {
        return hub.hubTime().thenCompose(now -> hub.client().config().publish(Settings.GROUP, NAMESPACE, document(text, now)));
    }

    private static JsonObject document(String text, long at) {
        JsonObject document = new JsonObject();
        document.addProperty("text", text);
        document.addProperty("at", Long.toString(at));
        return document;
    }

    private static String field(JsonElement document, String name, String otherwise) {
        JsonElement value = document.isJsonObject() ? document.getAsJsonObject().get(name) : null;
        return value != null && value.isJsonPrimitive() ? value.getAsString() : otherwise;
    }
}
