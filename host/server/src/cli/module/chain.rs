//! Commands that change a point's chain.

use clap::{Args, ValueEnum};
use network_hub_client::Method;
use serde_json::{Map, Value, json};

use crate::cli::client::{self, HubClient};
use crate::cli::module::{Remote, activation, format, newest_version};
use crate::cli::typed;

#[derive(Args, Debug)]
pub(in crate::cli) struct Activate {
    /// Module name
    #[arg(value_parser = client::segment)]
    name: String,
    /// Version [default: the newest READY version]
    version: Option<i64>,
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules;
    /// repeatable: several are changed together [default: all that the version serves, together]
    #[arg(long = "point", value_name = "POINT")]
    points: Vec<String>,
    #[command(flatten)]
    link: LinkArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

/// Settings of a version in a chain.
#[derive(Args, Debug)]
pub(super) struct LinkArgs {
    /// Configuration: a JSON object, or @FILE [default: unchanged]
    #[arg(long, value_name = "JSON|@FILE")]
    config: Option<String>,
    /// Rights of a module that answers with effects: a JSON object, or @FILE [default: unchanged]
    #[arg(long, value_name = "JSON|@FILE")]
    grants: Option<String>,
    /// active: all calls; canary: a share of players; shadow: run without effect
    #[arg(long, value_enum, default_value = "active")]
    mode: Mode,
    /// Percentage of players handled by the canary
    #[arg(long, value_name = "1-100", required_if_eq("mode", "canary"))]
    percent: Option<u8>,
    /// On a failed call: skip the module or refuse the request [default: unchanged, initially skip]
    #[arg(long, value_enum)]
    on_failure: Option<OnFailure>,
    /// Fresh instance for each call, or reused instances [default: unchanged, initially fresh]
    #[arg(long, value_enum)]
    instances: Option<Instances>,
    /// Activate even if the trial call fails
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Active,
    Canary,
    Shadow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnFailure {
    Skip,
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Instances {
    Fresh,
    Reused,
}

/// Returns a choice in the API's spelling.
fn wire_name(choice: &impl ValueEnum) -> Value {
    choice.to_possible_value().map(|value| value.get_name().to_ascii_uppercase()).into()
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Deactivate {
    /// Module name
    #[arg(value_parser = client::segment)]
    name: String,
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    /// [default: all, together]
    #[arg(long, value_parser = client::segment)]
    point: Option<String>,
    /// Only remove the module's entry in this mode
    #[arg(long, value_enum, requires = "point")]
    mode: Option<Mode>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Rollback {
    /// Module name: its links at all extension points become those before its last activation
    #[arg(required_unless_present = "point", conflicts_with = "point", value_parser = client::segment)]
    name: Option<String>,
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    #[arg(long, value_parser = client::segment)]
    point: Option<String>,
    /// Revision to restore, as `hub module revisions` lists them [default: the previous chain]
    #[arg(long, requires = "point")]
    revision: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Revisions {
    /// Extension point: matchmaking, chat, punishment, login, economy, queue, events, endpoints or schedules
    #[arg(long, value_parser = client::segment)]
    point: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Activate {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let settings = self.link.read()?;
        let hub = self.remote.client()?;
        let version = match self.version {
            Some(version) => version,
            None => newest_version(&hub, &self.name).await?,
        };
        if let [point] = &self.points[..] {
            print_chain(&put(&hub, point, &self.name, version, &settings).await?, self.json);
        } else {
            let activated = activation::put(&hub, &self.name, version, &self.points, &settings).await?;
            activation::print(&activated, self.json);
        }
        Ok(())
    }
}

impl Deactivate {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let Some(point) = &self.point else {
            activation::print(&activation::end(&hub, &self.name).await?, self.json);
            return Ok(());
        };
        let path = format!("/api/manage/extension-points/{point}");
        let chain = hub.get(&path).await?;
        let mut modules = chain["modules"].as_array().cloned().unwrap_or_default();
        let before = modules.len();
        modules.retain(|link| {
            link["name"] != self.name.as_str() || self.mode.is_some_and(|mode| link["mode"] != wire_name(&mode))
        });
        anyhow::ensure!(modules.len() < before, "{} is not in the chain", self.name);
        print_chain(&replace(&hub, &path, &chain, &modules).await?, self.json);
        Ok(())
    }
}

impl Rollback {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let Some(point) = &self.point else {
            let path = format!("{}/rollback", activation::path(&self.name.unwrap_or_default()));
            activation::print(&hub.post(&path, &json!({})).await?, self.json);
            return Ok(());
        };
        let path = match self.revision {
            Some(revision) => format!("/api/manage/extension-points/{point}/revisions/{revision}/restore"),
            None => format!("/api/manage/extension-points/{point}/rollback"),
        };
        print_chain(&hub.post(&path, &json!({})).await?, self.json);
        Ok(())
    }
}

impl Revisions {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let path = format!("/api/manage/extension-points/{}/revisions?limit=200", self.point);
        let page = self.remote.client()?.get(&path).await?;
        if self.json {
            print_json!(&page);
            return Ok(());
        }
        let rows: Vec<_> = page["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| {
                let links: Vec<_> = one["modules"].as_array().into_iter().flatten().map(link_summary).collect();
                let links = if links.is_empty() { "the built-in behaviour".to_owned() } else { links.join(", then ") };
                let actor = format::text(&one["actor"], "name").to_owned();
                [one["revision"].to_string(), format::timestamp(&one["at"]), actor, links]
            })
            .collect();
        print!("{}", format::table(["revision", "changed", "by", "chain"], &rows));
        Ok(())
    }
}

/// Replaces a chain, unless somebody else changed it since it was read.
async fn replace(hub: &HubClient, path: &str, chain: &Value, modules: &[Value]) -> anyhow::Result<Value> {
    let request = hub.request(Method::PUT, path).header("If-Match", &chain["revision"].to_string());
    Ok(hub.send(request.json(&json!({"modules": modules}))).await?)
}

/// Parses a JSON object given on the command line or, with @, in a file.
pub(super) fn parse_object(what: &str, text: &str) -> anyhow::Result<Map<String, Value>> {
    match typed::json_or_file(&format!("the {what}"), text)? {
        Value::Object(object) => Ok(object),
        _ => anyhow::bail!("the {what} must be one JSON object"),
    }
}

/// Members of a link set by [`LinkArgs`].
pub(super) struct LinkSettings {
    mode: Mode,
    pub(super) members: Map<String, Value>,
    pub(super) force: bool,
}

impl LinkArgs {
    /// Reads the configuration file first, so that its errors are found before the upload.
    pub(super) fn read(&self) -> anyhow::Result<LinkSettings> {
        anyhow::ensure!(self.percent.is_none() || self.mode == Mode::Canary, "--percent is for --mode canary");
        let mut members = Map::new();
        members.insert("mode".to_owned(), wire_name(&self.mode));
        if let Some(text) = &self.config {
            members.insert("config".to_owned(), Value::Object(parse_object("configuration", text)?));
        }
        if let Some(text) = &self.grants {
            members.insert("grants".to_owned(), Value::Object(parse_object("grants", text)?));
        }
        for (name, value) in [
            ("percent", self.percent.map(Value::from)),
            ("onFailure", self.on_failure.as_ref().map(wire_name)),
            ("instances", self.instances.as_ref().map(wire_name)),
        ] {
            members.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(LinkSettings { mode: self.mode, members, force: self.force })
    }
}

/// Puts a version into the chain: it replaces the module's version in that mode; else it follows the module's other
/// version, with the same settings; else it comes last. Returns the chain.
pub(super) async fn put(
    hub: &HubClient,
    point: &str,
    name: &str,
    version: i64,
    settings: &LinkSettings,
) -> anyhow::Result<Value> {
    let path = format!("/api/manage/extension-points/{point}");
    let chain = hub.get(&path).await?;
    let mut modules = chain["modules"].as_array().cloned().unwrap_or_default();
    insert_link(&mut modules, name, version, settings);
    let forced = if settings.force { "?force=true" } else { "" };
    replace(hub, &format!("{path}{forced}"), &chain, &modules).await
}

fn insert_link(modules: &mut Vec<Value>, name: &str, version: i64, settings: &LinkSettings) {
    let mode = wire_name(&settings.mode);
    let find = |modules: &[Value], mode: Option<&Value>| {
        modules.iter().position(|link| link["name"] == name && mode.is_none_or(|mode| link["mode"] == *mode))
    };
    let at = find(modules, Some(&mode)).unwrap_or_else(|| {
        let other = find(modules, Some(&wire_name(&Mode::Active))).or_else(|| find(modules, None));
        let (at, link) = match other {
            Some(other) => (other + 1, modules[other].clone()),
            None => (modules.len(), json!({"name": name})),
        };
        modules.insert(at, link);
        at
    });
    modules[at]["version"] = version.into();
    for (member, value) in &settings.members {
        modules[at][member] = value.clone();
    }
    // The trials that led to this mode are finished.
    let trials: &[Mode] = match settings.mode {
        Mode::Active => &[Mode::Canary, Mode::Shadow],
        Mode::Canary => &[Mode::Shadow],
        Mode::Shadow => &[],
    };
    if settings.mode != Mode::Canary {
        modules[at]["percent"] = 100.into();
    }
    modules.retain(|link| {
        let is_trial = trials.iter().any(|mode| link["mode"] == wire_name(mode));
        link["name"] != name || link["version"] != version || !is_trial
    });
}

/// Prints a point's chain and the hub's warnings.
pub(super) fn print_chain(chain: &Value, json: bool) {
    if json {
        print_json!(chain);
    } else {
        println!("{}", summary(chain));
    }
    print_warnings(chain);
}

/// Prints the hub's warnings.
pub(super) fn print_warnings(chain: &Value) {
    for warning in chain["warnings"].as_array().into_iter().flatten() {
        let (name, message) = (warning["name"].as_str().unwrap_or("?"), warning["message"].as_str().unwrap_or("?"));
        eprintln!("WARNING: {name} {} is active, but {message}", warning["version"]);
    }
}

/// Formats a point and its chain as one line.
pub(super) fn summary(chain: &Value) -> String {
    let links: Vec<_> = chain["modules"].as_array().into_iter().flatten().map(link_summary).collect();
    let point = format::text(chain, "point");
    let nothing = if activation::WITH_EFFECTS.contains(&point) { "no module" } else { "the built-in behaviour" };
    let links = if links.is_empty() { nothing.to_owned() } else { links.join(", then ") };
    let paused = if chain["paused"] == true { " (waits since a restore)" } else { "" };
    format!("{point}: {links}{paused}")
}

/// Formats a link in a few words.
pub(super) fn link_summary(link: &Value) -> String {
    let how = match link["mode"].as_str() {
        Some("CANARY") => format!(" (canary, {} %)", link["percent"]),
        Some("SHADOW") => " (shadow)".to_owned(),
        _ => String::new(),
    };
    format!("{} {}{how}", link["name"].as_str().unwrap_or("?"), link["version"])
}

#[cfg(test)]
pub(in crate::cli) mod tests {
    use super::*;

    /// Settings of an active link.
    pub(in crate::cli) fn active(members: Value) -> LinkSettings {
        settings(Mode::Active, members)
    }

    fn settings(mode: Mode, members: Value) -> LinkSettings {
        let Value::Object(mut members) = members else { panic!("no object") };
        members.insert("mode".to_owned(), wire_name(&mode));
        LinkSettings { mode, members, force: false }
    }

    fn shown(modules: &[Value]) -> String {
        modules.iter().map(link_summary).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_version_is_tried_beside_the_one_that_serves_and_then_takes_its_place() {
        let active = |name: &str| json!({"name": name, "version": 1, "mode": "ACTIVE", "config": {"a": 1}});
        let mut modules = vec![active("m"), active("last")];
        insert_link(&mut modules, "m", 2, &settings(Mode::Shadow, json!({})));
        assert_eq!(shown(&modules), "m 1, m 2 (shadow), last 1");
        assert_eq!(modules[1]["config"], json!({"a": 1}));
        insert_link(&mut modules, "m", 2, &settings(Mode::Canary, json!({"percent": 10})));
        assert_eq!(shown(&modules), "m 1, m 2 (canary, 10 %), last 1");
        insert_link(&mut modules, "m", 3, &settings(Mode::Shadow, json!({})));
        assert_eq!(shown(&modules), "m 1, m 3 (shadow), m 2 (canary, 10 %), last 1");
        insert_link(&mut modules, "m", 2, &settings(Mode::Canary, json!({"percent": 50, "config": {}})));
        assert_eq!(shown(&modules), "m 1, m 3 (shadow), m 2 (canary, 50 %), last 1");
        // Once active for all, the canary is removed; another version's shadow stays.
        insert_link(&mut modules, "m", 2, &settings(Mode::Active, json!({})));
        assert_eq!(shown(&modules), "m 2, m 3 (shadow), last 1");
        assert_eq!((&modules[0]["config"], &modules[0]["percent"]), (&json!({"a": 1}), &json!(100)));
        insert_link(&mut modules, "new", 1, &settings(Mode::Canary, json!({"percent": 1})));
        assert_eq!(shown(&modules), "m 2, m 3 (shadow), last 1, new 1 (canary, 1 %)");
    }
}
