package networkhub.plugin;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The game servers that a proxy knows from the hub. Those of the proxy's own config keep their addresses. Safe on any thread. */
public abstract class ProxyServers {
    private final Map<String, GameAddress> registered = new HashMap<>();

    /** True if the proxy has a server of this name, from the hub or from its own config. */
    protected abstract boolean has(String id);

    /** Adds a server to the proxy; replaces one of the same name. */
    protected abstract void put(GameAddress server);

    /** Removes a server from the proxy; false if it cannot go yet, and is to be removed by a later change. */
    protected abstract boolean remove(String id);

    /** Adds a server, unless the proxy has one of its name. */
    public final synchronized void ensure(GameAddress server) {
        if (!has(server.id())) register(server);
    }

    /** Replaces all servers from the hub by these. */
    public final synchronized void replaceAll(Collection<GameAddress> servers) {
        Map<String, GameAddress> gone = new HashMap<>(registered);
        for (GameAddress server : servers) {
            GameAddress known = gone.remove(server.id());
            boolean isNew = known == null && !has(server.id());
            if (isNew || known != null && !known.hasSameAddress(server)) register(server);
        }
        for (String id : List.copyOf(gone.keySet())) {
            if (remove(id)) registered.remove(id);
        }
    }

    private void register(GameAddress server) {
        put(server);
        registered.put(server.id(), server);
    }
}
