"""Answers that come in another order than they were asked for: the caches keep the one that was asked for last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from networkhub import AsyncHubClient, CachedConfig, LocalizationCache, PermissionCache, PunishmentCache
from networkhub.connector.clock import HubClock
from networkhub.models import ConfigDocument, EffectivePermissions, PlayerLanguage, Punishment

ANN = uuid4()
CLIENT = AsyncHubClient("http://127.0.0.1:1", "key")


def later(asked: list[asyncio.Future[Any]]) -> Callable[..., asyncio.Future[Any]]:
    """A call that is answered by hand."""

    def call(*_: object, **__: object) -> asyncio.Future[Any]:
        asked.append(asyncio.get_running_loop().create_future())
        return asked[-1]

    return call


async def test_a_config_document(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[asyncio.Future[Any]] = []
    monkeypatch.setattr(CLIENT.config, "register", later(asked))
    seen: list[Any] = []
    config = CachedConfig(CLIENT, "arena", "main", "default").on_change(seen.append)
    reads = [asyncio.ensure_future(config.refresh()) for _ in range(2)]
    await asyncio.sleep(0)
    for read, doc in ((1, "newer"), (0, "older")):
        asked[read].set_result(ConfigDocument(group="arena", namespace="main", doc=doc))
        await reads[read]
    assert config.doc == "newer"
    assert seen == ["newer"]


async def test_a_language(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[asyncio.Future[Any]] = []
    monkeypatch.setattr(CLIENT.localization, "language", later(asked))
    monkeypatch.setattr(CLIENT.localization, "set_language", later(asked))
    cache = LocalizationCache(CLIENT, [], {}, "en")
    read = asyncio.ensure_future(cache.refresh_language(ANN))
    change = asyncio.ensure_future(cache.set_language(ANN, "de"))
    await asyncio.sleep(0)
    asked[1].set_result(PlayerLanguage(locale="de", source="PLAYER"))
    await change
    asked[0].set_result(PlayerLanguage())
    await read
    assert cache.locale(ANN) == "de"


def test_permissions() -> None:
    cache = PermissionCache(CLIENT, None)
    now = time.monotonic()
    for asked_at, nodes in ((now, {"fly": True}), (now - 1, {"fly": False})):
        answer = EffectivePermissions(player_uuid=ANN, groups=[], permissions={**nodes}, revision=1)
        cache.put(ANN, answer, None, asked_at)
    assert cache.has(ANN, "fly")


def test_punishments() -> None:
    cache = PunishmentCache(HubClock())
    ban = Punishment(id=1, type="BAN", issued_at=0, player_uuid=ANN, active=True, ip_based=False)
    now = time.monotonic()
    cache.checked(ANN, "Ann", "10.0.0.1", [ban], now)
    cache.checked(ANN, "Ann", "10.0.0.1", [], now - 1)
    assert cache.ban(ANN) is not None
    # Of another address it may say more.
    other = Punishment(id=2, type="BAN", issued_at=0, ip_address="10.0.0.2", active=True, ip_based=True)
    cache.checked(ANN, "Ann", "10.0.0.2", [other], now - 1)
    assert cache.ban(ANN) == other
