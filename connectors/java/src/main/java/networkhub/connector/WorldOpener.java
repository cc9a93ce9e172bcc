package networkhub.connector;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.HubEvent;
import networkhub.HubException;
import networkhub.model.LiveServer;
import networkhub.model.OpenedWorld;
import networkhub.model.WorldOpenStatus;
import networkhub.model.WorldRequest;

/** Opens worlds and waits until they are up. Lives on the connector's thread. */
final class WorldOpener {
    private static final int REMEMBERED = 256;

    private record Waiting(WorldRequest request, CompletableFuture<OpenedWorld> result) {}

    private final HubClient client;
    private final ScheduledExecutorService thread;
    /** By lease. */
    private final Map<String, List<Waiting>> waiting = new HashMap<>();
    /** Servers of recently opened worlds: the event may precede the answer. */
    private final Map<String, LiveServer> ready = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, LiveServer> eldest) {
            return size() > REMEMBERED;
        }
    };

    WorldOpener(HubClient client, ScheduledExecutorService thread) {
        this.client = client;
        this.thread = thread;
    }

    void open(WorldRequest request, Duration patience, CompletableFuture<OpenedWorld> result) {
        thread.schedule(() -> result.completeExceptionally(
                new HubException("world_timeout", "The world was not up in time.")), patience.toMillis(), TimeUnit.MILLISECONDS);
        ask(new Waiting(request, result), patience);
    }

    private void ask(Waiting open, Duration patience) {
        Persist.call(thread, patience, () -> client.worlds().open(open.request)).whenCompleteAsync((answer, failure) -> {
            if (failure != null) {
                open.result.completeExceptionally(HubException.of(failure));
            } else if (answer.status() != WorldOpenStatus.LOADING) {
                open.result.complete(answer);
            } else if (ready.containsKey(answer.worldInstanceId())) {
                open.result.complete(up(answer.worldInstanceId(), ready.get(answer.worldInstanceId())));
            } else {
                waiting.computeIfAbsent(answer.worldInstanceId(), lease -> new java.util.ArrayList<>()).add(open);
            }
        }, thread);
    }

    /** WORLD_READY. */
    void ready(HubEvent event) {
        String lease = event.text("worldInstanceId");
        LiveServer server = HubClient.gson().fromJson(event.data().get("server"), LiveServer.class);
        ready.put(lease, server);
        List<Waiting> opens = waiting.remove(lease);
        if (opens != null) opens.forEach(open -> open.result.complete(up(lease, server)));
    }

    /** Events may have been missed: asks again, which opens nothing twice. */
    void resync() {
        List<Waiting> opens = waiting.values().stream().flatMap(List::stream).toList();
        waiting.clear();
        ready.clear();
        opens.stream().filter(open -> !open.result.isDone()).forEach(open -> ask(open, Duration.ofMinutes(1)));
    }

    private static OpenedWorld up(String lease, LiveServer server) {
        return new OpenedWorld(null, server, WorldOpenStatus.READY, true, null, lease);
    }
}
