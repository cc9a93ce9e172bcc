package networkhub;

import com.google.gson.JsonObject;
import networkhub.model.ChatMessage;

/**
 * An event of the stream.
 *
 * @param type its name, such as {@code CHAT}
 * @param at when it happened, in milliseconds since the epoch by the hub's clock
 * @param data all its fields
 */
public record HubEvent(String type, long at, JsonObject data) {
    /** Its fields as a model, such as {@code ChatMessage} for CHAT. */
    public <T> T as(Class<T> model) {
        return Json.GSON.fromJson(data, model);
    }

    /** A text field; null where there is none. */
    public String text(String field) {
        return Json.text(data, field);
    }
}
