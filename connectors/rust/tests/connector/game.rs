//! A game server that records its orders.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use network_hub_client::GameServer;
use network_hub_client::model::{ChatMessage, Punishment, SignedTransferCommand};
use parking_lot::Mutex;
use uuid::Uuid;

#[derive(Clone, Default)]
pub(crate) struct FakeGame(Arc<Notes>);

#[derive(Default)]
struct Notes {
    transfers: Mutex<Vec<SignedTransferCommand>>,
    kicked: Mutex<Vec<Uuid>>,
    chat: Mutex<Vec<String>>,
    commands: Mutex<Vec<String>>,
    refuses_transfers: AtomicBool,
}

impl FakeGame {
    pub(crate) fn transfers(&self) -> Vec<SignedTransferCommand> {
        self.0.transfers.lock().clone()
    }

    pub(crate) fn has_kicked(&self, player: Uuid) -> bool {
        self.0.kicked.lock().contains(&player)
    }

    pub(crate) fn chat(&self) -> Vec<String> {
        self.0.chat.lock().clone()
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.0.commands.lock().clone()
    }

    pub(crate) fn refuse_transfers(&self) {
        self.0.refuses_transfers.store(true, Ordering::SeqCst);
    }
}

impl GameServer for FakeGame {
    async fn transfer_player(&self, _: Uuid, command: SignedTransferCommand) -> Result<(), String> {
        if self.0.refuses_transfers.load(Ordering::SeqCst) {
            return Err("the player is in a cutscene".to_owned());
        }
        self.0.transfers.lock().push(command);
        Ok(())
    }

    async fn kick_player(&self, player: Uuid, _: Punishment) {
        self.0.kicked.lock().push(player);
    }

    async fn show_chat(&self, message: ChatMessage) {
        assert_ne!(message.message, "break the game");
        self.0.chat.lock().push(message.message);
    }

    async fn run_command(&self, command: String) -> Result<String, String> {
        match command.as_str() {
            "fail" => return Err("no such command".to_owned()),
            "panic" => panic!("a bug of the game"),
            "hang" => std::future::pending::<()>().await,
            _ => {}
        }
        self.0.commands.lock().push(command.clone());
        Ok(format!("ran {command}"))
    }
}
