package networkhub.plugin;

import com.google.gson.JsonParseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.HubEvent;
import networkhub.HubException;
import networkhub.connector.HubConnector;
import networkhub.model.ListedServer;
import networkhub.model.LiveServer;
import networkhub.model.ServerRole;

/**
 * The network's game servers that are online. Kept on disk, so that a proxy that starts while the hub is away knows where players
 * can go. Thread-safe.
 */
final class ServerDirectory {
    private static final int PAGE = 100;
    private static final long REFRESH_SECONDS = 10;
    /**
     * Time after an outage for which servers go only if they said so themselves. A hub that is back calls those offline that it did not
     * hear of for half a minute, until they have registered again.
     */
    private static final long RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** Age of the last heartbeat from which a server that is offline was silent, instead of saying so. */
    private static final long SILENCE_MS = 15_000;

    private final HubConnector hub;
    private final ScheduledExecutorService thread;
    private final Path file;
    private final Consumer<List<GameAddress>> onChange;
    /** Reads under way and asked for: 2 is one that is to be read again. */
    private final AtomicInteger reads = new AtomicInteger();
    /** Servers that were stopped since the outage. */
    private final Set<String> stopped = ConcurrentHashMap.newKeySet();
    private volatile long outageAt = System.nanoTime();
    private volatile List<GameAddress> servers;

    ServerDirectory(HubConnector hub, ScheduledExecutorService thread, Path file, Consumer<List<GameAddress>> onChange) {
        this.hub = hub;
        this.thread = thread;
        this.file = file;
        this.onChange = onChange;
        servers = load();
        hub.on("SERVER_ONLINE", event -> {
            stopped.remove(server(event).serverId());
            refresh();
        });
        hub.on("SERVER_OFFLINE", event -> {
            LiveServer server = server(event);
            if (event.at() - server.lastHeartbeat() < SILENCE_MS) stopped.add(server.serverId());
            refresh();
        });
        hub.on("RESYNC", event -> {
            outageAt = System.nanoTime();
            refresh();
        });
    }

    private static LiveServer server(HubEvent event) {
        return HubClient.gson().fromJson(event.data().get("server"), LiveServer.class);
    }

    /** Hands on the servers that were known last, and begins to read. */
    void start() {
        onChange.accept(servers);
        thread.scheduleWithFixedDelay(this::refresh, 0, REFRESH_SECONDS, TimeUnit.SECONDS);
    }

    /** The servers as they were read last. */
    List<GameAddress> servers() {
        return servers;
    }

    Optional<GameAddress> find(String id) {
        return servers.stream().filter(server -> server.id().equalsIgnoreCase(id)).findFirst();
    }

    int players() {
        return servers.stream().mapToInt(GameAddress::players).sum();
    }

    /** Reads the servers; failures wait for the next time, and the servers stay as they were. */
    void refresh() {
        if (!hub.status().isConnected()) outageAt = System.nanoTime();
        if (reads.getAndUpdate(now -> Math.min(now + 1, 2)) == 0) read();
    }

    private void read() {
        readFrom(0, List.of()).whenComplete((read, failure) -> {
            if (failure == null) run(() -> take(read));
            if (reads.decrementAndGet() > 0) read();
        });
    }

    private CompletableFuture<List<GameAddress>> readFrom(int page, List<GameAddress> before) {
        return hub.client().servers().list(null, true, null, page, PAGE).thenCompose(answer -> {
            List<GameAddress> all = new ArrayList<>(before);
            for (ListedServer server : answer.items()) {
                if (server.role() == ServerRole.GAME && server.live() != null) all.add(of(server));
            }
            boolean isLast = answer.items().size() < PAGE;
            return isLast ? CompletableFuture.completedFuture(all) : readFrom(page + 1, all);
        });
    }

    private static GameAddress of(ListedServer server) {
        return new GameAddress(server.serverId(), server.serverType(), server.live().host(), server.live().port(),
                server.live().currentPlayers(), server.live().maxPlayers(), server.live().joinable());
    }

    private void take(List<GameAddress> read) {
        List<GameAddress> now = new ArrayList<>(read);
        if (System.nanoTime() - outageAt < RECOVERY_NANOS) {
            servers.stream().filter(server -> !stopped.contains(server.id()))
                    .filter(server -> read.stream().noneMatch(server::hasSameId)).forEach(now::add);
        } else {
            stopped.clear();
        }
        boolean isMoved = now.size() != servers.size() || !now.stream().allMatch(server ->
                find(server.id()).filter(server::hasSameAddress).isPresent());
        servers = List.copyOf(now);
        if (!isMoved) return;
        // A network that was shut down as a whole comes back at the same addresses.
        if (!now.isEmpty()) save();
        onChange.accept(servers);
    }

    private void run(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException ended) {
            System.getLogger("networkhub").log(System.Logger.Level.DEBUG, "the plugin has stopped");
        }
    }

    private List<GameAddress> load() {
        try {
            GameAddress[] read = HubClient.gson().fromJson(Files.readString(file), GameAddress[].class);
            return read == null ? List.of() : List.copyOf(Arrays.asList(read));
        } catch (IOException | JsonParseException | NullPointerException missing) {
            return List.of();
        }
    }

    private void save() {
        Path draft = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.writeString(draft, HubClient.gson().toJson(servers));
            Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            System.getLogger("networkhub").log(System.Logger.Level.WARNING,
                    "The list of servers cannot be kept: {0}", HubException.of(failure).getMessage());
        }
    }
}
