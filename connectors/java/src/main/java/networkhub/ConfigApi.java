package networkhub;

import com.google.gson.JsonElement;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import networkhub.model.ConfigDocument;

/** Config documents: JSON of at most 256 KiB, named by group and namespace. */
public final class ConfigApi {
    private final Transport transport;

    ConfigApi(Transport transport) {
        this.transport = transport;
    }

    /** Stores a default where nothing is stored; returns the effective document. Do it at every start. */
    public CompletableFuture<ConfigDocument> register(String group, String namespace, JsonElement defaultDoc) {
        return transport.send(Call.post("config", "register")
                .fields("group", group, "namespace", namespace, "defaultDoc", defaultDoc), ConfigDocument.class);
    }

    /** Stores a document; all servers get CONFIG_UPDATED. */
    public CompletableFuture<ConfigDocument> publish(String group, String namespace, JsonElement doc) {
        return transport.send(Call.post("config", "publish").fields("group", group, "namespace", namespace, "doc", doc),
                ConfigDocument.class);
    }

    /** A document; empty where there is none. */
    public CompletableFuture<Optional<ConfigDocument>> get(String group, String namespace) {
        return PlayersApi.optional(transport.send(Call.get("config", group, namespace), ConfigDocument.class));
    }
}
