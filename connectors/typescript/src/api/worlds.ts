import type { OpenedWorld, SnapshotUpload, WorldHeartbeat, WorldLease, WorldRequest, WorldUnloadReport } from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/**
 * Worlds on demand. `open`, `release` and `snapshot` are for any server; the others are callbacks of the node that runs a world, and fail
 * with `lease_ended` or `stale_fence` where it no longer does.
 */
export class WorldsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Opens a world, wherever it is or will be up. LOADING: wait for WORLD_READY with this `worldInstanceId`; `HubConnector.openWorld`
   * does.
   */
  open(request: WorldRequest): Promise<OpenedWorld> {
    return this.transport.send({ method: "POST", path: path`worlds/open`, body: request });
  }

  /** Releases a world that is no longer needed. */
  release(worldInstanceId: string): Promise<WorldLease> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldInstanceId}/release` });
  }

  /** Asks for a save point of a live world. */
  snapshot(worldInstanceId: string, reason?: string): Promise<WorldLease> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldInstanceId}/snapshot`, body: { reason } });
  }

  /** At a node's start: all leases it held before are lost. Returns their number. */
  async releaseAll(nodeServerId: string): Promise<number> {
    const call = { method: "POST", path: path`worlds/release-all`, body: { nodeServerId } };
    return (await this.transport.send<{ released: number }>(call)).released;
  }

  /** The world is up. */
  ready(worldId: number, nodeServerId: string, fence: number): Promise<WorldLease> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldId}/ready`, body: { nodeServerId, fence } });
  }

  /** Renews a lease, every third of its `leaseMs`. The answer's state is what the hub wants. */
  heartbeat(worldId: number, heartbeat: WorldHeartbeat): Promise<WorldLease> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldId}/heartbeat`, body: heartbeat });
  }

  /** Creates an address to upload a snapshot to. */
  uploadUrl(worldId: number): Promise<SnapshotUpload> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldId}/upload-url` });
  }

  /** The world is saved and unloaded. */
  unloaded(worldId: number, report: WorldUnloadReport): Promise<WorldLease> {
    return this.transport.send({ method: "POST", path: path`worlds/${worldId}/unloaded`, body: report });
  }
}
