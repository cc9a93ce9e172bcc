"""The smallest game server. HUB_URL and HUB_KEY say where the hub is and what the key is."""

import asyncio
import os
from uuid import UUID

from networkhub import AsyncHubClient, GameServer, HubConnector
from networkhub.models import ChatMessage, Punishment, ServerRegistration, SignedTransferCommand


class SmallestServer(GameServer):
    def transfer_player(self, player: UUID, command: SignedTransferCommand) -> None:
        print(f"send {player} to {command.host}:{command.port}")

    def kick_player(self, player: UUID, reason: Punishment) -> None:
        print(f"kick {player}: {reason.reason}")

    def show_chat(self, message: ChatMessage) -> None:
        print(f"<{message.player_name}> {message.message}")

    def run_command(self, command: str) -> str:
        return f"you said {command}"


async def main() -> None:
    info = ServerRegistration(server_id="my-first-server", server_type="lobby", port=25565, max_players=20)
    async with (
        AsyncHubClient(os.environ["HUB_URL"], os.environ["HUB_KEY"]) as client,
        HubConnector(client, info, SmallestServer()) as hub,
    ):
        await hub.wait_until_connected()
        hub.player_joined(UUID("069a79f4-44e9-4726-a5be-fca90e38aaf5"), "Notch")
        await asyncio.Event().wait()


asyncio.run(main())
