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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.connector.HubConnector;
import networkhub.model.ListedServer;
import networkhub.model.ServerRole;

/**
 * The network's game servers that are online. Kept on disk, so that a proxy that starts while the hub is away knows where players
 * can go. Thread-safe.
 */
final class ServerDirectory {
    private static final int PAGE = 100;
    private static final long REFRESH_SECONDS = 10;

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final Path file;
    private final Consumer<List<GameAddress>> onChange;
    private final AtomicBoolean isReading = new AtomicBoolean();
    private volatile List<GameAddress> servers;

    ServerDirectory(HubConnector hub, ScheduledExecutorService thread, Path file, Consumer<List<GameAddress>> onChange) {
        client = hub.client();
        this.thread = thread;
        this.file = file;
        this.onChange = onChange;
        servers = load();
        for (String event : new String[] {"SERVER_ONLINE", "SERVER_OFFLINE", "RESYNC"}) {
            hub.on(event, happened -> refresh());
        }
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
        if (!isReading.compareAndSet(false, true)) return;
        readFrom(0, List.of()).whenComplete((read, failure) -> {
            isReading.set(false);
            if (failure == null) run(() -> take(read));
        });
    }

    private CompletableFuture<List<GameAddress>> readFrom(int page, List<GameAddress> before) {
        return client.servers().list(null, true, null, page, PAGE).thenCompose(answer -> {
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
        boolean isMoved = read.size() != servers.size() || !read.stream().allMatch(server ->
                find(server.id()).filter(server::hasSameAddress).isPresent());
        servers = List.copyOf(read);
        if (!isMoved) return;
        save();
        onChange.accept(servers);
    }

    private void run(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException stopped) {
            isReading.set(false);
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
