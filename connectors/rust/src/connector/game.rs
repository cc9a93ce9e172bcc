//! Requests of the connector to the game.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tracing::warn;
use uuid::Uuid;

use super::Shared;
use crate::model::{ChatMessage, ConsoleCommandOrder, Punishment, SignedTransferCommand};

/// Lines of chat that wait for the game.
const CHAT_CAPACITY: usize = 1_000;

/// A game server or proxy, as the hub needs it; the only interface that a plugin implements. The methods are called on the runtime of the
/// connector, side by side; lines of chat one after the other. What they do in the game is best sent to its main loop. A method that panics
/// stops nothing else.
pub trait GameServer: Send + Sync + 'static {
    /// Sends a player of this server to another one. The command is verified: it is signed, not expired, not used before, and the
    /// player is here. On a proxy connect them to `target_server_id`; on a game server use the transfer packet to `host` and
    /// `port`. Where that is not possible the hub learns the error.
    fn transfer_player(
        &self,
        player: Uuid,
        command: SignedTransferCommand,
    ) -> impl Future<Output = Result<(), String>> + Send;

    /// Removes a player of this server, who was banned or kicked.
    fn kick_player(&self, player: Uuid, reason: Punishment) -> impl Future<Output = ()> + Send;

    /// Shows a line of the network's chat; it may come from any server, this one included.
    fn show_chat(&self, message: ChatMessage) -> impl Future<Output = ()> + Send;

    /// Runs a console command, without a slash in front, and answers what it printed, or why it failed. The future is dropped when the
    /// caller no longer waits: do not run what has not begun by then (`oneshot::Sender::is_closed`).
    fn run_command(&self, command: String) -> impl Future<Output = Result<String, String>> + Send;
}

/// Something for the game to do.
pub(super) enum GameTask {
    Chat(ChatMessage),
    Kick(Uuid, Punishment),
    Transfer(SignedTransferCommand),
    /// To be answered before this time.
    Command(ConsoleCommandOrder, Instant),
}

/// Hands tasks to the game, each in a task of its own, so that one that takes long holds up no other.
pub(super) async fn run<G: GameServer>(
    game: Arc<G>,
    shared: Arc<Shared>,
    mut tasks: mpsc::UnboundedReceiver<GameTask>,
) {
    let (chat, lines) = mpsc::channel(CHAT_CAPACITY);
    shared.spawn(show_lines(Arc::clone(&game), lines));
    while let Some(task) = tasks.recv().await {
        let game = Arc::clone(&game);
        match task {
            GameTask::Chat(message) => {
                if chat.try_send(message).is_err() {
                    warn!("a line of chat is dropped: the game does not keep up");
                }
            }
            GameTask::Kick(player, reason) => {
                shared.spawn(async move { game.kick_player(player, reason).await });
            }
            GameTask::Transfer(command) => {
                shared.spawn(transfer(game, Arc::clone(&shared), command));
            }
            GameTask::Command(command, deadline) => {
                shared.spawn(run_command(game, Arc::clone(&shared), command, deadline));
            }
        }
    }
}

async fn show_lines<G: GameServer>(game: Arc<G>, mut lines: mpsc::Receiver<ChatMessage>) {
    while let Some(line) = lines.recv().await {
        let game = Arc::clone(&game);
        // In a task of its own, so that a panic is the end of this line alone.
        let _ = tokio::spawn(async move { game.show_chat(line).await }).await;
    }
}

async fn transfer<G: GameServer>(game: Arc<G>, shared: Arc<Shared>, command: SignedTransferCommand) {
    let order = command.clone();
    let sent = tokio::spawn(async move { game.transfer_player(order.player_uuid, order).await });
    if let Err(message) = joined(sent).await {
        shared.report_failed_transfer(&command, &message).await;
    }
}

async fn run_command<G: GameServer>(
    game: Arc<G>,
    shared: Arc<Shared>,
    command: ConsoleCommandOrder,
    deadline: Instant,
) {
    let line = command.command.clone();
    let run = async move { timeout_at(deadline, game.run_command(line)).await };
    let outcome = joined(tokio::spawn(async move {
        run.await.unwrap_or_else(|_| Err("The game did not answer in time.".to_owned()))
    }));
    shared.answer_command(&command, outcome.await).await;
}

async fn joined<T>(task: JoinHandle<Result<T, String>>) -> Result<T, String> {
    task.await.unwrap_or_else(|error| Err(format!("The game failed: {error}")))
}
