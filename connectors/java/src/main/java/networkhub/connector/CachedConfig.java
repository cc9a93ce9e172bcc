package networkhub.connector;

import com.google.gson.JsonElement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import networkhub.HubClient;

/**
 * A config document that is kept current. Before the first answer of the hub it is the plugin's default; while the hub is away it is
 * what was known last.
 */
public final class CachedConfig {
    private static final System.Logger LOG = System.getLogger("networkhub");

    private final HubClient client;
    private final String group;
    private final String namespace;
    private final JsonElement defaultDoc;
    private final List<Consumer<JsonElement>> listeners = new CopyOnWriteArrayList<>();
    private volatile JsonElement doc;
    private final AtomicLong reads = new AtomicLong();
    /** Number of the read whose answer is kept; that of an earlier one that comes late is dropped. */
    private long kept;

    CachedConfig(HubClient client, String group, String namespace, JsonElement defaultDoc) {
        this.client = client;
        this.group = group;
        this.namespace = namespace;
        this.defaultDoc = defaultDoc;
        this.doc = defaultDoc;
    }

    /** The document now. Never changed in place: do not change it either. */
    public JsonElement get() {
        return doc;
    }

    /** Calls this with each other document from now on, on the connector's thread. */
    public CachedConfig onChange(Consumer<JsonElement> listener) {
        listeners.add(listener);
        return this;
    }

    boolean is(String group, String namespace) {
        return this.group.equals(group) && this.namespace.equals(namespace);
    }

    /** An answer of the hub, and the number of its read. */
    record Read(long number, JsonElement doc) {}

    /** Registers the default, which returns the effective document. */
    CompletableFuture<Read> read() {
        long number = reads.incrementAndGet();
        return client.config().register(group, namespace, defaultDoc).thenApply(found -> new Read(number, found.doc()));
    }

    /** On the connector's thread. */
    void set(Read answer) {
        if (answer.number() < kept) return;
        kept = answer.number();
        JsonElement read = answer.doc();
        if (read == null || read.equals(doc)) return;
        doc = read;
        for (Consumer<JsonElement> listener : listeners) {
            try {
                listener.accept(read);
            } catch (RuntimeException failure) {
                LOG.log(System.Logger.Level.WARNING, "A listener of config " + group + "/" + namespace + " failed", failure);
            }
        }
    }
}
