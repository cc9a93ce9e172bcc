package networkhub.plugin;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import networkhub.connector.DeliveryException;
import networkhub.model.Delivery;

/**
 * Deliveries that run a console command: the kind {@code command}, whose payload is {@code {"command": "give {player} diamond"}}. The
 * names {@code {player}} and {@code {uuid}} stand for whom it is for.
 */
final class CommandDelivery {
    private final Platform platform;

    CommandDelivery(Platform platform) {
        this.platform = platform;
    }

    void run(Delivery delivery) {
        String name = platform.players().get(delivery.playerUuid());
        if (name == null) throw new DeliveryException("The player has left.", true);
        String command = text(delivery, "command").replace("{uuid}", delivery.playerUuid().toString()).replace("{player}", name);
        platform.runCommand(command.startsWith("/") ? command.substring(1) : command);
    }

    /** A field of the payload, or the payload itself if it is a text. */
    static String text(Delivery delivery, String field) {
        JsonElement payload = delivery.payload();
        JsonElement value = payload != null && payload.isJsonObject() ? payload.getAsJsonObject().get(field) : payload;
        if (value instanceof JsonPrimitive text && text.isString() && !text.getAsString().isBlank()) return text.getAsString();
        throw new DeliveryException("The payload has no " + field + ".", false);
    }
}
