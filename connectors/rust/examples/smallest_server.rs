//! The smallest server: one player, and whatever the hub asks for is printed.

use network_hub_client::model::{ChatMessage, Punishment, ServerRegistration, SignedTransferCommand};
use network_hub_client::{ConnectorOptions, GameServer, HubClient};
use uuid::{Uuid, uuid};

struct SmallestServer;

impl GameServer for SmallestServer {
    async fn transfer_player(&self, player: Uuid, command: SignedTransferCommand) -> Result<(), String> {
        println!("send {player} to {}:{}", command.host, command.port);
        Ok(())
    }

    async fn kick_player(&self, player: Uuid, reason: Punishment) {
        println!("kick {player}: {}", reason.reason.unwrap_or_default());
    }

    async fn show_chat(&self, message: ChatMessage) {
        println!("<{}> {}", message.player_name, message.message);
    }

    async fn run_command(&self, command: String) -> Result<String, String> {
        Ok(format!("you said {command}"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = HubClient::new(&std::env::var("HUB_URL")?, &std::env::var("HUB_KEY")?)?;
    let info = ServerRegistration {
        server_id: "my-first-server".to_owned(),
        server_type: "lobby".to_owned(),
        port: 25565,
        max_players: Some(20),
        ..ServerRegistration::default()
    };
    let hub = ConnectorOptions::new(client, info).start(SmallestServer);
    hub.player_joined(uuid!("069a79f4-44e9-4726-a5be-fca90e38aaf5"), "Notch");
    tokio::signal::ctrl_c().await?;
    hub.stop().await;
    Ok(())
}
