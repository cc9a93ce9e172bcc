//! `hub demo`: a hub with a network, its modules, and simulated servers and players. It uses the same HTTP API as
//! connectors and owners.

mod examples;
mod modules;
mod simulation;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::auth::{Bindings, Origin, Role, Scope, Scopes};
use crate::cli::client::HubClient;
use crate::cli::log::log_to_stderr;
use crate::cli::serve::stop_on_signal;
use crate::clock::Clock;
use crate::components::components;
use crate::config::{ServeArgs, Settings};
use crate::data_folder;
use crate::email::Email;
use crate::ids::Ids;
use crate::lifecycle;
use crate::networks::service::{self, NewKey};
use crate::people;
use crate::serve::{self, Server};
use crate::values::NetworkId;

const NETWORK: &str = "demo";
const OWNER: &str = "demo owner";
const CONNECTOR: &str = "demo connector";
/// Number of the network's keys among which those of the last start are looked for.
const MAX_KEYS: i64 = 200;

#[derive(Args, Debug)]
pub(in crate::cli) struct Demo {
    #[command(flatten)]
    args: ServeArgs,
}

impl Demo {
    pub(in crate::cli) async fn run(mut self) -> anyhow::Result<()> {
        // The simulation prints to the same terminal.
        let _log = log_to_stderr("warn", None);
        serve::open_files::raise_limit();
        self.args.storage.data.get_or_insert_with(|| PathBuf::from("hub-demo"));
        let mut settings = Settings::of_serve(&self.args)?;
        crate::components::check_limits(&settings)?;
        let listener = serve::bind(settings.listen.resolve("--listen").await?).await?;
        settings.listen = listener.local_addr()?.into();
        if !settings.data.exists() {
            eprintln!("created data folder {}", data_folder::shown(&settings).display());
        }
        let _lock = data_folder::lock(&settings)?;
        let url = format!("http://{}", settings.listen);
        let app = lifecycle::start(settings, Clock::System, Ids::System).await?;
        let serving = tokio::spawn(Server::new(app.clone()).run(listener));
        stop_on_signal(app.clone())?;

        let keys = Keys::create(&app).await?;
        let accounts = accounts(&app, keys.network).await?;
        let owner = HubClient::new(&url, &keys.owner)?;
        modules::install(&owner).await?;
        let connector = HubClient::new(&url, &keys.connector)?;
        simulation::register_servers(&connector).await?;
        examples::create(&owner).await?;
        // The output may be closed already.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "listening on {url}\n{}", welcome(&url, &keys, &accounts)).and_then(|()| out.flush());

        let simulation = tokio::spawn(simulation::run(connector, app.ids.clone(), app.stopping()));
        serving.await?;
        simulation.await?;
        lifecycle::finish_stop(&app).await;
        Ok(())
    }
}

/// The two kinds of key that a network needs.
struct Keys {
    network: NetworkId,
    owner: String,
    connector: String,
}

impl Keys {
    /// Creates the demo network on first start, and new keys on every start because a key is shown only once. Those of the
    /// last start end; they have no expiry, with which they could not upload modules.
    async fn create(app: &App) -> anyhow::Result<Self> {
        let network = match service::find_network(&app.db, NETWORK).await? {
            Some(network) => network,
            None => service::create_network(&app.db, &app.clock, &app.ids, NETWORK).await?.0,
        };
        let origin = Origin::command_line(&app.clock, &app.ids);
        let (keys, _) = service::list_keys(&app.db, network, MAX_KEYS, 0).await?;
        for key in keys.iter().filter(|key| key.name == OWNER || key.name == CONNECTOR) {
            service::revoke_key(&app.db, components(), &origin, network, &key.key_id, false).await?;
        }
        let owner = Self::create_key(app, network, OWNER, Scopes::owner()).await?;
        let connector = Self::create_key(app, network, CONNECTOR, [Scope::Plugin].into_iter().collect()).await?;
        Ok(Self { network, owner, connector })
    }

    async fn create_key(app: &App, network: NetworkId, name: &str, scopes: Scopes) -> anyhow::Result<String> {
        let new = NewKey { name: name.to_owned(), scopes, expires_at: None, bindings: Bindings::default() };
        Ok(service::create_key(&app.db, &app.clock, &app.ids, network, new).await?.text.expose().to_owned())
    }
}

/// People of the demo: an operator, and a network's owner and moderator.
const PEOPLE: [(&str, &str, Option<Role>); 3] = [
    ("owner@demo.example", "Mira", Some(Role::Owner)),
    ("moderator@demo.example", "Tobi", Some(Role::Moderator)),
    ("operator@demo.example", "Anouk", None),
];

/// Creates the people, with new passwords at every start. Returns a line for each.
async fn accounts(app: &App, network: NetworkId) -> anyhow::Result<String> {
    let origin = Origin::command_line(&app.clock, &app.ids);
    let mut lines = String::new();
    for (email, name, role) in PEOPLE {
        let address = email.parse::<Email>().map_err(anyhow::Error::msg)?;
        let member = role.map(|role| (network, role));
        let password = people::service::give_account(&app.db, &origin, &address, name, member).await?;
        let _ = writeln!(lines, "         {email:<24} {}", password.expose());
    }
    Ok(lines)
}

fn welcome(url: &str, keys: &Keys, accounts: &str) -> String {
    let Keys { owner, connector, .. } = keys;
    format!(
        r#"
The network `demo` is open: 7 game servers and a proxy in 2 regions, 40 players, 3 modules, a shop and a waiting line.

Open   {url}/console        the pages for people; sign in as
{accounts}
       {url}/docs           the documentation, and every route to read and to try with a key

Keys   HUB_KEY={owner}
         owner key: everything except operator tasks
       HUB_CONNECTOR_KEY={connector}
         connector key: the game servers' API

Try    export HUB_URL={url} HUB_KEY={owner}

       # which server is best for a player in Europe? the module region-first decides
       curl -s -X POST $HUB_URL/api/plugin/matchmaking/find -H "X-Service-Api-Key: $HUB_KEY" \
         -d '{{"serverType":"bedwars","region":"EUROPE","playerUuid":"069a79f4-44e9-4726-a5be-fca90e38aaf5","playerName":"Notch"}}'

       # listen to the network (Ctrl-C ends it)
       curl -N $HUB_URL/api/plugin/events -H "X-Service-Api-Key: $HUB_KEY"

       # say something that chat-guard does not like: the stream shows it with stars
       curl -s -X POST $HUB_URL/api/plugin/chat -H "X-Service-Api-Key: $HUB_KEY" \
         -d '{{"playerUuid":"069a79f4-44e9-4726-a5be-fca90e38aaf5","playerName":"Notch","serverId":"lobby-eu","message":"you noob"}}'

       # sell a kit to a player of whom the lines below tell: the server that they are on gives it to them, once
       curl -s -X POST $HUB_URL/api/plugin/deliveries -H "X-Service-Api-Key: $HUB_KEY" \
         -d '{{"playerName":"Player01","kind":"kit","payload":{{"kit":"starter"}},"reference":"order-1"}}'

       # how many wait for the duels, and for how long?
       curl -s $HUB_URL/api/manage/matchmaking/lines -H "X-Service-Api-Key: $HUB_KEY"

       # see how the modules do
       curl -s $HUB_URL/api/manage/extension-points/matchmaking -H "X-Service-Api-Key: $HUB_KEY"

What happens from here on (Ctrl-C stops the hub):
"#
    )
}
