from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from support import FakeGame, HubProcess

from networkhub import AsyncHubClient


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def hub() -> Iterator[HubProcess]:
    """One hub for all tests of a file."""
    process = HubProcess()
    yield process
    process.close()


@pytest.fixture
async def owner(hub: HubProcess) -> AsyncIterator[AsyncHubClient]:
    async with hub.async_client() as client:
        yield client


@pytest.fixture
def game() -> FakeGame:
    return FakeGame()
