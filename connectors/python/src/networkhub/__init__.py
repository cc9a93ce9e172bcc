"""Connects game servers and proxies with a network hub.

`HubConnector` keeps a server on asyncio connected, `ThreadedHubConnector` one with threads; `AsyncHubClient` and
`HubClient` make single calls. The log goes to the logger `networkhub`.
"""

from ._transport import NO_RETRIES, RetryPolicy
from .api.documents import Order
from .api.permissions import VersionedPermissions
from .api.servers import ServerState
from .client import AsyncHubClient, HubClient
from .connector.deliveries import DeliveryFailure, DeliveryHandler
from .connector.game import GameServer
from .connector.hub_connector import HubConnector
from .connector.lines import Place
from .connector.localization_cache import CachedConfig, LocalizationCache
from .connector.options import ConnectorOptions, ConnectorStatus, JoinDecision
from .connector.permission_cache import PermissionCache
from .connector.player_data import EndReason, PlayerDataHandler, PlayerDataStore
from .connector.punishment_cache import PunishmentCache
from .connector.threaded import ThreadedHubConnector
from .connector.transfers import TransferVerifier
from .errors import INVALID_ANSWER, UNREACHABLE, HubError
from .events import AsyncEventStream, EventStream, HubEvent

__all__ = [
    "INVALID_ANSWER",
    "NO_RETRIES",
    "UNREACHABLE",
    "AsyncEventStream",
    "AsyncHubClient",
    "CachedConfig",
    "ConnectorOptions",
    "ConnectorStatus",
    "DeliveryFailure",
    "DeliveryHandler",
    "EndReason",
    "EventStream",
    "GameServer",
    "HubClient",
    "HubConnector",
    "HubError",
    "HubEvent",
    "JoinDecision",
    "LocalizationCache",
    "Order",
    "PermissionCache",
    "Place",
    "PlayerDataHandler",
    "PlayerDataStore",
    "PunishmentCache",
    "RetryPolicy",
    "ServerState",
    "ThreadedHubConnector",
    "TransferVerifier",
    "VersionedPermissions",
]
