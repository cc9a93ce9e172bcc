package networkhub;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

/** JSON as the hub reads and writes it. */
final class Json {
    static final Gson GSON =
            new GsonBuilder().disableHtmlEscaping().registerTypeAdapterFactory(new RecordAdapters()).create();

    private Json() {}

    /** The object in a text; an empty one where there is none. */
    static JsonObject object(String text) {
        try {
            JsonElement element = JsonParser.parseString(text);
            return element.isJsonObject() ? element.getAsJsonObject() : new JsonObject();
        } catch (JsonParseException malformed) {
            return new JsonObject();
        }
    }

    /** A text field; null where there is none. */
    static String text(JsonObject object, String field) {
        JsonElement value = object.get(field);
        return value == null || !value.isJsonPrimitive() ? null : value.getAsString();
    }
}
