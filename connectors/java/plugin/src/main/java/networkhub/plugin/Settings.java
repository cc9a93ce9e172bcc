package networkhub.plugin;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.connector.CachedConfig;
import networkhub.connector.HubConnector;

/** Settings of the whole network: the config document {@code network-hub} of the group {@code network}. */
public final class Settings {
    static final String GROUP = "network";
    static final String NAMESPACE = "network-hub";

    private final HubClient client;
    private final CachedConfig document;

    Settings(HubConnector hub) {
        client = hub.client();
        document = hub.config(GROUP, NAMESPACE, defaults());
    }

    static JsonObject defaults() {
        JsonObject maintenance = new JsonObject();
        maintenance.addProperty("enabled", false);
        maintenance.add("allowed", new JsonArray());
        JsonObject document = new JsonObject();
        document.addProperty("lobbyType", "lobby");
        document.addProperty("motd", "");
        document.addProperty("maxPlayers", 0);
        document.addProperty("currency", "");
        document.addProperty("networkChat", true);
        document.add("maintenance", maintenance);
        return document;
    }

    /** Type of the servers that players begin on. */
    public String lobbyType() {
        String type = text("lobbyType");
        return type.isBlank() ? "lobby" : type;
    }

    /** Message of the day in MiniMessage; blank leaves the server's own. */
    public String motd() {
        return text("motd");
    }

    /** Maximum number of players that is shown; 0 leaves the server's own. */
    public int maxPlayers() {
        JsonElement value = field(document.get(), "maxPlayers");
        return isNumber(value) ? Math.max(0, value.getAsInt()) : 0;
    }

    /** Currency of /pay and /balance; blank is the first one. */
    public String currency() {
        return text("currency");
    }

    /** True if chat goes through the hub to all servers. */
    public boolean isChatShared() {
        return isTrue(field(document.get(), "networkChat"));
    }

    /** True if only those on the list may join. */
    public boolean isMaintenance() {
        return isTrue(field(field(document.get(), "maintenance"), "enabled"));
    }

    /** Names and UUIDs of those who may join during maintenance. */
    public List<String> maintenanceList() {
        return list(document.get());
    }

    /** True if a player is on the list. */
    public boolean isOnMaintenanceList(UUID player, String name) {
        return maintenanceList().stream().anyMatch(entry ->
                entry.equalsIgnoreCase(name) || entry.equalsIgnoreCase(player.toString()));
    }

    /** Turns maintenance on or off, for the whole network. */
    CompletableFuture<?> setMaintenance(boolean isOn) {
        return change(maintenance -> maintenance.addProperty("enabled", isOn));
    }

    /** Adds a name to the list of those who may join, or removes it. */
    CompletableFuture<?> setOnMaintenanceList(String name, boolean isOn) {
        return change(maintenance -> {
            JsonArray allowed = new JsonArray();
            for (String entry : listOf(maintenance)) {
                if (!entry.equalsIgnoreCase(name)) allowed.add(entry);
            }
            if (isOn) allowed.add(name.toLowerCase(Locale.ROOT));
            maintenance.add("allowed", allowed);
        });
    }

    /** Calls this when the document has changed, on the connector's thread. */
    void onChange(Runnable listener) {
        document.onChange(changed -> listener.run());
    }

    /** Reads the document at the hub, so that a change of this server keeps those of others. */
    private CompletableFuture<?> change(Consumer<JsonObject> edit) {
        return client.config().get(GROUP, NAMESPACE).thenCompose(found -> {
            JsonElement read = found.map(stored -> stored.doc()).orElseGet(Settings::defaults);
            JsonObject edited = read.isJsonObject() ? read.getAsJsonObject().deepCopy() : defaults();
            JsonElement known = edited.get("maintenance");
            JsonObject maintenance = known != null && known.isJsonObject() ? known.getAsJsonObject() : new JsonObject();
            edit.accept(maintenance);
            edited.add("maintenance", maintenance);
            return client.config().publish(GROUP, NAMESPACE, edited);
        });
    }

    private static List<String> list(JsonElement document) {
        return listOf(field(document, "maintenance"));
    }

    private static List<String> listOf(JsonElement maintenance) {
        List<String> names = new ArrayList<>();
        JsonElement allowed = field(maintenance, "allowed");
        if (allowed != null && allowed.isJsonArray()) {
            for (JsonElement entry : allowed.getAsJsonArray()) {
                if (entry.isJsonPrimitive()) names.add(entry.getAsString());
            }
        }
        return names;
    }

    private String text(String name) {
        JsonElement value = field(document.get(), name);
        return value instanceof JsonPrimitive primitive ? primitive.getAsString() : "";
    }

    private static JsonElement field(JsonElement element, String name) {
        return element != null && element.isJsonObject() ? element.getAsJsonObject().get(name) : null;
    }

    private static boolean isTrue(JsonElement value) {
        return value instanceof JsonPrimitive primitive && primitive.isBoolean() && primitive.getAsBoolean();
    }

    private static boolean isNumber(JsonElement value) {
        return value instanceof JsonPrimitive primitive && primitive.isNumber();
    }
}
