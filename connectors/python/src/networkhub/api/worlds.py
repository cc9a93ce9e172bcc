"""Worlds on demand, and the network's chat."""

from __future__ import annotations

from .. import _json
from .._call import Answer, Api, Call, TransportT, keyed, model, nothing, operation, path
from ..models import ChatMessageInput, NodeReleaseCount, OpenedWorld, SnapshotUpload, WorldLease, WorldRequest


class WorldsApi(Api[TransportT]):
    """Worlds on demand.

    `open`, `release` and `snapshot` are for any server; the others are callbacks of the node that runs a world, and fail with
    `lease_ended` or `stale_fence` where it no longer does.
    """

    @operation
    def open(self, request: WorldRequest) -> Call[OpenedWorld]:
        """Opens a world, wherever it is or will be up.

        LOADING: wait for WORLD_READY with this `world_instance_id`; `HubConnector.open_world` does.
        """
        return Call("POST", path("worlds", "open"), model(OpenedWorld), body=request)

    @operation
    def release(self, world_instance_id: str) -> Call[WorldLease]:
        """Releases a world that is no longer needed."""
        return Call("POST", path("worlds", world_instance_id, "release"), model(WorldLease))

    @operation
    def snapshot(self, world_instance_id: str, reason: str | None = None) -> Call[WorldLease]:
        """Asks for a save point of a live world."""
        body = _json.present(reason=reason)
        return Call("POST", path("worlds", world_instance_id, "snapshot"), model(WorldLease), body=body)

    @operation
    def release_all(self, node_server_id: str) -> Call[int]:
        """At a node's start: all leases it held before are lost. Returns their number."""

        def read(answer: Answer) -> int:
            return answer.read(NodeReleaseCount).released

        return Call("POST", path("worlds", "release-all"), read, body={"nodeServerId": node_server_id})

    @operation
    def ready(self, world_id: int, node_server_id: str, fence: int) -> Call[WorldLease]:
        """The world is up."""
        body = _json.present(node_server_id=node_server_id, fence=fence)
        return Call("POST", path("worlds", world_id, "ready"), model(WorldLease), body=body)

    @operation
    def heartbeat(
        self,
        world_id: int,
        node_server_id: str,
        fence: int,
        player_count: int,
        *,
        blob_key: str | None = None,
        size_bytes: int | None = None,
    ) -> Call[WorldLease]:
        """Renews a lease, every third of its `lease_ms`. The answer's state is what the hub wants.

        `blob_key` is the latest save point, `size_bytes` its size.
        """
        body = _json.present(
            node_server_id=node_server_id,
            fence=fence,
            player_count=player_count,
            blob_key=blob_key,
            size_bytes=size_bytes,
        )
        return Call("POST", path("worlds", world_id, "heartbeat"), model(WorldLease), body=body)

    @operation
    def upload_url(self, world_id: int) -> Call[SnapshotUpload]:
        """Creates an address to upload a snapshot to."""
        return Call("POST", path("worlds", world_id, "upload-url"), model(SnapshotUpload))

    @operation
    def unloaded(
        self,
        world_id: int,
        node_server_id: str,
        fence: int,
        *,
        blob_key: str | None = None,
        size_bytes: int | None = None,
    ) -> Call[WorldLease]:
        """The world is saved and unloaded; without a snapshot the last two are None."""
        body = _json.present(node_server_id=node_server_id, fence=fence, blob_key=blob_key, size_bytes=size_bytes)
        return Call("POST", path("worlds", world_id, "unloaded"), model(WorldLease), body=body)


class ChatApi(Api[TransportT]):
    """The network's chat."""

    @operation
    def send(self, message: ChatMessageInput) -> Call[None]:
        """Sends a line to every server, this one included.

        Show it when it comes back as CHAT, because a filter may have rewritten it. Fails with `chat_rejected` where a filter
        refuses it.
        """
        return Call("POST", path("chat"), nothing, body=message, **keyed())
