package networkhub;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import networkhub.model.CollectionDefinition;
import networkhub.model.CollectionStatus;
import networkhub.model.DocumentBatch;
import networkhub.model.DocumentPage;

/** Documents under ids of your own, found by indexed fields. A document is JSON of at most 256 KiB. */
public final class CollectionsApi {
    private final Transport transport;

    CollectionsApi(Transport transport) {
        this.transport = transport;
    }

    /** The order of a list. */
    public enum Order {
        /** The least first. */
        ASC,
        /** The greatest first. */
        DESC
    }

    /** Makes collections, or adds indexes to them; do it at every start. An index may be BUILDING for a while. */
    public CompletableFuture<List<CollectionStatus>> register(List<CollectionDefinition> collections) {
        return transport.send(Call.post("collections", "register").fields("collections", collections), Registered.class)
                .thenApply(Registered::collections);
    }

    private record Registered(List<CollectionStatus> collections) {}

    /** A document; empty where there is none. */
    public CompletableFuture<Optional<JsonElement>> get(String collection, String id) {
        return PlayersApi.optional(transport.send(Call.get("collections", collection, id), JsonElement.class));
    }

    /** Stores a document. */
    public CompletableFuture<Void> put(String collection, String id, JsonElement document) {
        return transport.run(Call.put("collections", collection, id).body(document));
    }

    /** Deletes a document; answers whether there was one. */
    public CompletableFuture<Boolean> delete(String collection, String id) {
        return transport.send(Call.delete("collections", collection, id), JsonObject.class)
                .thenApply(answer -> answer.get("deleted").getAsBoolean());
    }

    /** At most 200 documents by their ids. */
    public CompletableFuture<DocumentBatch> getAll(String collection, Collection<String> ids) {
        return transport.send(Call.post("collections", collection, "mget").fields("ids", ids), DocumentBatch.class);
    }

    /** Those whose field has this value, by id. The cursor is null for the first page. */
    public CompletableFuture<DocumentPage> findBy(String collection, String field, Object value, int limit,
            String cursor) {
        return transport.send(list(collection, "by", field, limit, cursor, null).query("value", value),
                DocumentPage.class);
    }

    /** Those whose field is between two numbers, both included; either may be null. */
    public CompletableFuture<DocumentPage> findRange(String collection, String field, Double min, Double max,
            Order order, int limit, String cursor) {
        return transport.send(list(collection, "range", field, limit, cursor, order).query("min", min).query("max", max),
                DocumentPage.class);
    }

    /** The greatest values first. */
    public CompletableFuture<DocumentPage> top(String collection, String field, int limit, String cursor) {
        return transport.send(list(collection, "top", field, limit, cursor, null), DocumentPage.class);
    }

    /** All documents that have the field, the least values first unless an order is given. */
    public CompletableFuture<DocumentPage> page(String collection, String field, Order order, int limit, String cursor) {
        return transport.send(list(collection, "page", field, limit, cursor, order), DocumentPage.class);
    }

    private static Call list(String collection, String kind, String field, int limit, String cursor, Order order) {
        return Call.get("collections", collection, kind, field)
                .query("limit", limit)
                .query("cursor", cursor)
                .query("order", order == null ? null : order.name().toLowerCase(java.util.Locale.ROOT));
    }
}
