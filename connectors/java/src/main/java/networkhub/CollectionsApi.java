package networkhub;

import com.google.gson.JsonElement;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import networkhub.model.CollectionDefinition;
import networkhub.model.CollectionDocuments;
import networkhub.model.CollectionItems;
import networkhub.model.CollectionPage;
import networkhub.model.DocumentDeletion;
import networkhub.model.RegisteredCollection;
import networkhub.model.RegisteredCollections;

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

    /** Creates collections, or adds indexes to them; do it at every start. An index may be BUILDING for a while. */
    public CompletableFuture<List<RegisteredCollection>> register(List<CollectionDefinition> collections) {
        return transport.send(Call.post("collections", "register").fields("collections", collections),
                RegisteredCollections.class).thenApply(RegisteredCollections::collections);
    }

    /** A document; empty where there is none. */
    public CompletableFuture<Optional<JsonElement>> get(String collection, String id) {
        return PlayersApi.optional(transport.send(Call.get("collections", collection, id), JsonElement.class));
    }

    /** Stores a document. */
    public CompletableFuture<Void> put(String collection, String id, JsonElement document) {
        return transport.run(Call.put("collections", collection, id).body(document));
    }

    /** Deletes a document; returns whether it existed. */
    public CompletableFuture<Boolean> delete(String collection, String id) {
        return transport.send(Call.delete("collections", collection, id), DocumentDeletion.class)
                .thenApply(DocumentDeletion::deleted);
    }

    /** At most 200 documents by their ids. */
    public CompletableFuture<CollectionDocuments> getAll(String collection, Collection<String> ids) {
        return transport.send(Call.post("collections", collection, "mget").fields("ids", ids), CollectionDocuments.class);
    }

    /** Returns documents whose field has this value, by id. The cursor is null for the first page. */
    public CompletableFuture<CollectionItems> findBy(String collection, String field, Object value, int limit,
            String cursor) {
        return transport.send(list(collection, "by", field, limit, cursor, null).query("value", value),
                CollectionItems.class);
    }

    /** Returns documents whose field is between two numbers, both included; either may be null. */
    public CompletableFuture<CollectionItems> findRange(String collection, String field, Double min, Double max,
            Order order, int limit, String cursor) {
        return transport.send(list(collection, "range", field, limit, cursor, order).query("min", min).query("max", max),
                CollectionItems.class);
    }

    /** The greatest values first. */
    public CompletableFuture<CollectionItems> top(String collection, String field, int limit, String cursor) {
        return transport.send(list(collection, "top", field, limit, cursor, null), CollectionItems.class);
    }

    /** All documents that have the field, the least values first unless an order is given. */
    public CompletableFuture<CollectionPage> page(String collection, String field, Order order, int limit, String cursor) {
        return transport.send(list(collection, "page", field, limit, cursor, order), CollectionPage.class);
    }

    private static Call list(String collection, String kind, String field, int limit, String cursor, Order order) {
        return Call.get("collections", collection, kind, field)
                .query("limit", limit)
                .query("cursor", cursor)
                .query("order", order == null ? null : order.name().toLowerCase(java.util.Locale.ROOT));
    }
}
