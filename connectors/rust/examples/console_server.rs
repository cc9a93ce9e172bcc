//! A game server without a game: players join, chat, buy and leave by lines on its console. It has what a plugin for a real server
//! has. `HUB_URL` and `HUB_KEY` say where the hub is; arguments: `SERVER_ID SERVER_TYPE PORT`.

use std::collections::BTreeMap;

use network_hub_client::connector::JoinDecision;
use network_hub_client::model::{ChatMessage, MatchRequest, Punishment, ServerRegistration, SignedTransferCommand};
use network_hub_client::{Amount, ConnectorOptions, GameServer, HubClient, HubConnector, HubError};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// Requests of the hub to the game, for its main loop.
enum Order {
    Transfer(Uuid, SignedTransferCommand, oneshot::Sender<Result<(), String>>),
    Kick(Uuid, Punishment),
    Show(ChatMessage),
    Run(String, oneshot::Sender<Result<String, String>>),
    /// A player may join.
    Admit(Uuid, String),
}

/// Sends everything to the main loop, which alone touches the game.
struct Adapter(mpsc::UnboundedSender<Order>);

impl Adapter {
    async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<Result<T, String>>) -> Order) -> Result<T, String> {
        let (sender, answer) = oneshot::channel();
        let _ = self.0.send(order(sender));
        answer.await.unwrap_or_else(|_| Err("the server is stopping".to_owned()))
    }
}

impl GameServer for Adapter {
    async fn transfer_player(&self, player: Uuid, command: SignedTransferCommand) -> Result<(), String> {
        self.ask(|answer| Order::Transfer(player, command, answer)).await
    }

    async fn kick_player(&self, player: Uuid, reason: Punishment) {
        let _ = self.0.send(Order::Kick(player, reason));
    }

    async fn show_chat(&self, message: ChatMessage) {
        let _ = self.0.send(Order::Show(message));
    }

    async fn run_command(&self, command: String) -> Result<String, String> {
        self.ask(|answer| Order::Run(command, answer)).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [id, kind, port] = arguments.as_slice() else { return Err("arguments: SERVER_ID SERVER_TYPE PORT".into()) };
    let client = HubClient::new(&std::env::var("HUB_URL")?, &std::env::var("HUB_KEY")?)?;
    let info = ServerRegistration {
        server_id: id.clone(),
        server_type: kind.clone(),
        port: port.parse()?,
        host: Some("127.0.0.1".to_owned()),
        max_players: Some(20),
        platform_name: Some("console".to_owned()),
        ..ServerRegistration::default()
    };
    let (orders, mut inbox) = mpsc::unbounded_channel();
    let hub = ConnectorOptions::new(client, info)
        .messages("console", "en", &[("welcome", "Welcome")])
        .messages("console", "de", &[("welcome", "Willkommen")])
        .start(Adapter(orders.clone()));
    let mut server = ConsoleServer { hub, orders, players: BTreeMap::new() };
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => match line?.as_deref() {
                None | Some("stop") => break,
                Some(line) => server.act(line),
            },
            Some(order) = inbox.recv() => server.obey(order),
        }
    }
    server.hub.stop().await;
    Ok(())
}

/// The game. All of it belongs to the main loop, which waits for nothing.
struct ConsoleServer {
    hub: HubConnector,
    orders: mpsc::UnboundedSender<Order>,
    /// Players on the server, by name.
    players: BTreeMap<String, Uuid>,
}

/// A real server has an id from the player's account.
fn id_of(name: &str) -> Uuid {
    let mut bytes = [0; 16];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte = letter;
    }
    Uuid::from_bytes(bytes)
}

impl ConsoleServer {
    /// join NAME · leave NAME · say NAME TEXT · play NAME `SERVER_TYPE` · buy NAME PRICE · status
    fn act(&mut self, line: &str) {
        let mut words = line.trim().splitn(3, ' ');
        let (verb, name, rest) = (words.next(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (hub, name, rest) = (self.hub.clone(), name.to_owned(), rest.to_owned());
        match verb {
            Some("join") => {
                tokio::spawn(join(hub, self.orders.clone(), name));
            }
            Some("leave") => {
                if let Some(player) = self.players.remove(&name) {
                    hub.player_left(player);
                }
            }
            Some("say") => {
                tokio::spawn(async move {
                    if let Err(error) = hub.send_chat(id_of(&name), &name, &rest).await {
                        println!("{name} cannot say that: {}", error.message());
                    }
                });
            }
            Some("play") => {
                tokio::spawn(async move {
                    if let Err(error) = play(hub, &name, &rest).await {
                        println!("no match: {}", error.message());
                    }
                });
            }
            Some("buy") => {
                tokio::spawn(buy(hub, id_of(&name), rest));
            }
            Some("status") => println!("{:?}", hub.status()),
            _ => println!("unknown: {line}"),
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Admit(player, name) => {
                self.hub.player_joined(player, &name);
                println!("{}, {name}", self.hub.localization().text(player, "welcome"));
                self.players.insert(name, player);
            }
            // A real server sends the player's client there, who then leaves.
            Order::Transfer(player, command, answer) => {
                let is_here = self.remove(player);
                if is_here {
                    println!("sending {player} to {}:{}", command.host, command.port);
                    self.hub.player_left(player);
                }
                let _ = answer.send(is_here.then_some(()).ok_or_else(|| "the player has just left".to_owned()));
            }
            Order::Kick(player, reason) => {
                self.remove(player);
                self.hub.player_left(player);
                println!("kicked {player}: {}", reason.reason.unwrap_or_default());
            }
            Order::Show(line) => println!("<{}> {}", line.player_name, line.message),
            // The caller no longer waits: never run a command late.
            Order::Run(_, answer) if answer.is_closed() => {}
            Order::Run(command, answer) => {
                let names: Vec<_> = self.players.keys().map(String::as_str).collect();
                let is_list = command == "list";
                let _ = answer.send(is_list.then(|| names.join(", ")).ok_or(format!("unknown command: {command}")));
            }
        }
    }

    fn remove(&mut self, player: Uuid) -> bool {
        let before = self.players.len();
        self.players.retain(|_, each| *each != player);
        self.players.len() < before
    }
}

async fn join(hub: HubConnector, orders: mpsc::UnboundedSender<Order>, name: String) {
    let player = id_of(&name);
    match hub.check_join(player, &name, None).await {
        JoinDecision::Allowed(_) => {
            let _ = orders.send(Order::Admit(player, name));
        }
        JoinDecision::Banned(ban) => println!("{name} may not join: banned for {}", ban.reason.unwrap_or_default()),
        JoinDecision::NotVerified => println!("{name} may not join: try again in a minute"),
    }
}

async fn play(hub: HubConnector, name: &str, server_type: &str) -> Result<(), HubError> {
    let player = id_of(name);
    let request = MatchRequest {
        server_type: Some(server_type.to_owned()),
        player_uuid: Some(player),
        player_name: Some(name.to_owned()),
        ..MatchRequest::default()
    };
    let found = hub.client().find_match(&request).await?;
    match found.matched_server {
        Some(server) => {
            let outcome = hub.transfer(player, &server.server_id, None).await?;
            println!("{name} goes to {}: {}", server.server_id, outcome.result);
        }
        None => println!("no place for {name}: {}", found.result),
    }
    Ok(())
}

async fn buy(hub: HubConnector, player: Uuid, price: String) {
    let Ok(price) = price.parse::<Amount>() else { return println!("no price: {price}") };
    match hub.client().spend(player, "coins", price, Some("console shop")).await {
        Ok(spent) => println!("sold, {} left", spent.balance),
        Err(error) if error.is("insufficient_funds") => println!("too expensive"),
        Err(error) => println!("not sold: {}", error.message()),
    }
}
