//! `hub login` and `hub logout`: a person's session at a hub, kept in a profile.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use network_hub_client::{HubError, Method, RetryPolicy};
use serde_json::{Value, json};

use crate::cli::client::HubClient;
use crate::cli::profiles::{Profile, Profiles};
use crate::cli::remote::DEFAULT_URL;
use crate::http_client;

/// Name of the first profile.
const FIRST_PROFILE: &str = "default";

#[derive(Args, Debug)]
pub(super) struct Login {
    /// Hub URL
    #[arg(env = "HUB_URL", default_value = DEFAULT_URL)]
    url: String,
    /// Sign in with this address and a password here, instead of in the console; a password that is no terminal's is read from
    /// standard input
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Network to act in, by name or id; needed by people of several
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// Name of the profile, by which commands choose among several hubs and accounts
    #[arg(long, env = "HUB_PROFILE", value_name = "NAME", default_value = FIRST_PROFILE)]
    profile: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(super) struct Logout {
    /// Profile to sign out [default: the latest]
    #[arg(long, env = "HUB_PROFILE", value_name = "NAME")]
    profile: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Calls of a hub without any right.
struct Door(network_hub_client::HubClient);

impl Door {
    fn new(url: &str) -> anyhow::Result<Self> {
        // Routes of people who are not signed in ignore the key, which a client cannot go without.
        let client = network_hub_client::HubClient::builder(url, "none").session(None).http(http_client::client()?);
        Ok(Self(client.retry(RetryPolicy::NONE).build()?))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, HubError> {
        self.0.request(Method::POST, path).json(body).send().await
    }
}

impl Login {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let url = self.url.trim_end_matches('/').to_owned();
        let door = Door::new(&url)?;
        let session = match &self.email {
            Some(email) => with_password(&door, email).await?,
            None => with_device(&door, &url).await?,
        };
        let token = session["token"].as_str().context("the hub's answer has no token")?.to_owned();
        let person = &session["person"];
        let network = match self.choose(person) {
            Ok(network) => network,
            Err(error) => {
                // A session that no profile keeps would be left behind.
                let _ = HubClient::of_session(&url, &token, None)?.post("/api/people/sign-out", &json!({})).await;
                return Err(error);
            }
        };
        let profile = Profile {
            url,
            token,
            email: person["email"].as_str().unwrap_or_default().to_owned(),
            network_id: network.as_ref().map(|(id, _)| id.clone()),
            network_name: network.map(|(_, name)| name),
            expires_at: session["expiresAt"].as_i64().unwrap_or_default(),
        };
        let shown = json!({"profile": self.profile, "hub": profile.url, "email": profile.email,
            "networkId": profile.network_id, "network": profile.network_name, "expiresAt": profile.expires_at});
        let mut profiles = Profiles::read()?;
        profiles.put(&self.profile, profile);
        let file = profiles.write()?;
        if self.json {
            print_json!(shown);
        } else {
            let text = |name: &str| shown[name].as_str().unwrap_or("the hub's operator").to_owned();
            println!("Signed in at {} as {}, network: {}", text("hub"), text("email"), text("network"));
            println!("The session ends after two weeks, or by `hub logout`; it is kept in {}", file.display());
        }
        Ok(())
    }

    /// The network to act in, by id and name; none for people of none.
    fn choose(&self, person: &Value) -> anyhow::Result<Option<(String, String)>> {
        let networks = person["networks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |network: &Value, field: &str| network[field].as_str().unwrap_or_default().to_owned();
        let pair = |network: &Value| (text(network, "networkId"), text(network, "name"));
        let names = || networks.iter().map(|it| text(it, "name")).collect::<Vec<_>>().join(", ");
        if let Some(wanted) = &self.network {
            let found = networks.iter().map(pair).find(|(id, name)| id == wanted || name == wanted);
            return found
                .map(Some)
                .with_context(|| format!("you are not a member of `{wanted}`; your networks: {}", names()));
        }
        match networks {
            [] => Ok(None),
            [only] => Ok(Some(pair(only))),
            _ => bail!("you are a member of several networks: choose one by --network; yours: {}", names()),
        }
    }
}

/// Signs in with a password, and a code of the second factor if the hub asks for one.
async fn with_password(door: &Door, email: &str) -> anyhow::Result<Value> {
    let password = ask("Password: ", true)?;
    let mut body = json!({"email": email, "password": password});
    match door.post("/api/people/sign-in", &body).await {
        Err(error) if error.code() == "second_factor_needed" => {
            body["code"] = json!(ask("Code of the second factor: ", false)?);
            Ok(door.post("/api/people/sign-in", &body).await?)
        }
        answer => Ok(answer?),
    }
}

/// Has the person confirm a code in the console, and waits.
async fn with_device(door: &Door, url: &str) -> anyhow::Result<Value> {
    let host = fs_host_name();
    let client = host.map_or_else(|| "hub login".to_owned(), |host| format!("hub login on {host}"));
    let client: String = client.chars().take(100).collect();
    let begun = door.post("/api/people/devices", &json!({"client": client})).await?;
    let text = |name: &str| begun[name].as_str().unwrap_or_default();
    let page = begun["verificationUrl"].as_str().map_or_else(|| format!("{url}/console/me/device"), str::to_owned);
    eprintln!("Open {page}?code={} and confirm the code", text("userCode"));
    eprintln!();
    eprintln!("    {}", text("userCode"));
    eprintln!();
    let interval = Duration::from_millis(begun["intervalMs"].as_u64().unwrap_or(2000).max(100));
    let body = json!({"deviceCode": text("deviceCode")});
    loop {
        tokio::time::sleep(interval).await;
        match door.post("/api/people/device-sessions", &body).await {
            Err(error) if error.code() == "device_pending" || error.is_transient() => {}
            Err(error) if error.code() == "unknown_token" => bail!("nobody confirmed the code in time; try again"),
            answer => return Ok(answer?),
        }
    }
}

fn fs_host_name() -> Option<String> {
    let name = std::fs::read_to_string("/etc/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Asks a question at the terminal, or reads the next line of standard input. Hidden answers are not shown as they are typed.
fn ask(question: &str, is_hidden: bool) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let hides = is_hidden && stdin.is_terminal();
    let echo =
        |state: &str| Command::new("stty").arg(state).stdin(Stdio::inherit()).status().is_ok_and(|it| it.success());
    if stdin.is_terminal() {
        eprint!("{question}");
        std::io::stderr().flush()?;
    }
    ensure!(!hides || echo("-echo"), "cannot hide what you type here; send the password to standard input");
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    if hides {
        echo("echo");
        eprintln!();
    }
    read.context("cannot read standard input")?;
    let answer = line.trim_end_matches(['\r', '\n']).to_owned();
    ensure!(!answer.is_empty(), "no answer to `{}`", question.trim_end_matches([':', ' ']));
    Ok(answer)
}

impl Logout {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let mut profiles = Profiles::read()?;
        let name = match (&self.profile, profiles.current()) {
            (Some(name), _) => name.clone(),
            (None, Some((name, _))) => name.to_owned(),
            (None, None) => bail!("no profile is signed in"),
        };
        let removed = profiles.remove(&name).with_context(|| format!("there is no profile `{name}`"))?;
        let hub = HubClient::of_session(&removed.url, &removed.token, None)?;
        // The profile goes, whatever the hub says: its session may have ended long ago.
        let ended = hub.post("/api/people/sign-out", &json!({})).await;
        profiles.write()?;
        if let Err(error) = ended
            && error.status().is_none_or(|status| status.as_u16() != 401)
        {
            eprintln!("hub: the session could not be ended at {}, and lasts until it expires: {error}", removed.url);
        }
        if self.json {
            print_json!(json!({"profile": name, "hub": removed.url}));
        } else {
            println!("Signed out of {} (profile {name})", removed.url);
        }
        Ok(())
    }
}
