package networkhub;

import java.util.concurrent.CompletableFuture;
import networkhub.model.NodeReleaseCount;
import networkhub.model.OpenedWorld;
import networkhub.model.SnapshotUpload;
import networkhub.model.WorldLease;
import networkhub.model.WorldRequest;

/**
 * Worlds on demand. {@link #open}, {@link #release} and {@link #snapshot} are for any server; the others are callbacks of the
 * node that runs a world, and fail with {@code lease_ended} or {@code stale_fence} where it no longer does.
 */
public final class WorldsApi {
    private final Transport transport;

    WorldsApi(Transport transport) {
        this.transport = transport;
    }

    /**
     * Opens a world, wherever it is or will be up. LOADING: wait for WORLD_READY with this {@code worldInstanceId};
     * {@code HubConnector.openWorld} does.
     */
    public CompletableFuture<OpenedWorld> open(WorldRequest request) {
        return transport.send(Call.post("worlds", "open").body(request), OpenedWorld.class);
    }

    /** Releases a world that is no longer needed. */
    public CompletableFuture<WorldLease> release(String worldInstanceId) {
        return transport.send(Call.post("worlds", worldInstanceId, "release"), WorldLease.class);
    }

    /** Asks for a save point of a live world; the reason may be null. */
    public CompletableFuture<WorldLease> snapshot(String worldInstanceId, String reason) {
        return transport.send(Call.post("worlds", worldInstanceId, "snapshot").fields("reason", reason),
                WorldLease.class);
    }

    /** At a node's start: all leases it held before are lost. Returns their number. */
    public CompletableFuture<Long> releaseAll(String nodeServerId) {
        return transport.send(Call.post("worlds", "release-all").fields("nodeServerId", nodeServerId), NodeReleaseCount.class)
                .thenApply(NodeReleaseCount::released);
    }

    /** The world is up. */
    public CompletableFuture<WorldLease> ready(long worldId, String nodeServerId, long fence) {
        return transport.send(Call.post("worlds", worldId, "ready").fields("nodeServerId", nodeServerId, "fence", fence),
                WorldLease.class);
    }

    /**
     * Renews a lease, every third of its {@code leaseMs}. The answer's state is what the hub wants.
     *
     * @param blobKey the latest save point, or null
     * @param sizeBytes its size, or null
     */
    public CompletableFuture<WorldLease> heartbeat(long worldId, String nodeServerId, long fence, int playerCount,
            String blobKey, Long sizeBytes) {
        return transport.send(Call.post("worlds", worldId, "heartbeat")
                .fields("nodeServerId", nodeServerId, "fence", fence, "playerCount", playerCount, "blobKey", blobKey,
                        "sizeBytes", sizeBytes), WorldLease.class);
    }

    /** Creates an address to upload a snapshot to. */
    public CompletableFuture<SnapshotUpload> uploadUrl(long worldId) {
        return transport.send(Call.post("worlds", worldId, "upload-url"), SnapshotUpload.class);
    }

    /** The world is saved and unloaded; without a snapshot the last two are null. */
    public CompletableFuture<WorldLease> unloaded(long worldId, String nodeServerId, long fence, String blobKey,
            Long sizeBytes) {
        return transport.send(Call.post("worlds", worldId, "unloaded")
                .fields("nodeServerId", nodeServerId, "fence", fence, "blobKey", blobKey, "sizeBytes", sizeBytes),
                WorldLease.class);
    }
}
