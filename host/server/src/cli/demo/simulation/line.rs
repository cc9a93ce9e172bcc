//! A small game that is full most of the time, and the line of those who wait for it.

use std::io::Write as _;

use serde_json::json;

use super::{Simulation, print_line};

/// Type of the game's server.
pub(super) const GAME: &str = "duels";
/// Players that fit into it.
pub(super) const SLOTS: u32 = 4;
/// Maximum number of players who wait.
const MAX_WAITING: usize = 6;
/// A place in the game becomes free each time that the line was served so often.
const GAME_LENGTH: usize = 4;

/// Ticket of a player who waits.
pub(super) struct WaitingTicket {
    id: String,
    /// Last place that was printed.
    position: u64,
}

impl Simulation {
    /// Fills the game before anybody else may come.
    pub(super) async fn fill_game(&mut self) -> anyhow::Result<()> {
        for at in 0..SLOTS as usize {
            self.join(at, "lobby").await?;
            self.take_ticket(at).await?;
        }
        self.read_tickets().await
    }

    /// Lets a player out of the game or another one into the line, and those in whose turn it is.
    pub(super) async fn move_line(&mut self) -> anyhow::Result<()> {
        if self.served.is_multiple_of(GAME_LENGTH)
            && let Some(at) = self.somebody(|server| server.starts_with(GAME))
        {
            self.join(at, "lobby").await?;
        } else if self.tickets.len() < MAX_WAITING
            && let Some(at) = self.somebody(|server| server.starts_with("lobby"))
        {
            self.take_ticket(at).await?;
        }
        self.read_tickets().await
    }

    /// The same player again keeps ticket and place.
    async fn take_ticket(&mut self, at: usize) -> anyhow::Result<()> {
        let player = &self.players[at];
        let wish = json!({"playerUuid": player.uuid, "playerName": player.name, "serverType": GAME});
        let ticket = self.connector.post("/api/plugin/matchmaking/tickets", &wish).await?;
        if let Some(id) = ticket["ticketId"].as_str() {
            self.tickets.entry(at).or_insert_with(|| WaitingTicket { id: id.to_owned(), position: 0 });
        }
        Ok(())
    }

    /// A connector is told of places and matches by its event stream; the simulation asks.
    async fn read_tickets(&mut self) -> anyhow::Result<()> {
        let mut waiting: Vec<usize> = self.tickets.keys().copied().collect();
        waiting.sort_unstable();
        for at in waiting {
            let Some(ticket) = self.tickets.get_mut(&at) else { continue };
            let name = &self.players[at].name;
            let answer = self.connector.get(&format!("/api/plugin/matchmaking/tickets/{}", ticket.id)).await?;
            let position = answer["position"].as_u64().unwrap_or_default();
            match (answer["state"].as_str(), answer["match"]["matchedServer"]["serverId"].as_str()) {
                (Some("WAITING"), _) => {
                    if position != ticket.position {
                        print_line!("  line   {name} waits for {GAME} at place {position} of {}", answer["waiting"]);
                    }
                    ticket.position = position;
                }
                (Some("MATCHED"), Some(server)) => {
                    print_line!("  line   {name} → {server}");
                    self.tickets.remove(&at);
                    self.enter(at, server, GAME).await?;
                }
                _ => {
                    self.tickets.remove(&at);
                }
            }
        }
        Ok(())
    }
}
