//! The pages are correct: their routes exist, and their steps run in their order.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::Installation;
use crate::support::{Backend, files};

const HUB: &str = env!("CARGO_BIN_EXE_hub");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages for users, and the files of `deploy` that they point to.
fn pages() -> Vec<(String, String)> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let mut paths = vec![root().join("README.md"), root().join("SECURITY.md")];
    paths.extend(files(&root().join("docs")).into_iter().filter(is_page));
    paths.extend(files(&root().join("deploy")));
    for parent in ["connectors", "plugins", "plugins-sdk"] {
        for folder in root().join(parent).read_dir().unwrap() {
            paths.push(folder.unwrap().path().join("README.md"));
        }
    }
    let text = |path: PathBuf| Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?));
    paths.into_iter().filter_map(text).collect()
}

/// Routes named by a text, each up to the first character that can't be part of one.
fn routes_in(text: &str) -> impl Iterator<Item = &str> {
    // Not those of other services.
    let own = text.match_indices("/api/").filter(|(at, _)| !text[..*at].ends_with("discord.com"));
    own.map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|letter: char| letter.is_whitespace() || "`\"'<>()|,;?&]\\*".contains(letter));
        rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ':', '/', '…'])
    })
}

/// True if it is a route or the beginning of one, with any value for a parameter.
fn is_route(named: &str, route: &str) -> bool {
    let mut parts = route.split('/');
    named.split('/').all(|named| {
        let stands_for_any = named.starts_with(['$', '{', '…']);
        parts.next().is_some_and(|part| named == part || stands_for_any || part.starts_with('{'))
    })
}

#[test]
fn the_routes_that_pages_name_exist() {
    let printed = Command::new(HUB).arg("openapi").output().unwrap().stdout;
    let document: Value = serde_json::from_slice(&printed).unwrap();
    let mut routes: Vec<_> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    routes.extend(["/api/openapi.json", "/api/asyncapi.json"]);
    let (mut count, mut unknown) = (0, vec![]);
    for (page, text) in pages() {
        // It adds a component with routes of its own.
        if page.ends_with("adding-a-component.md") {
            continue;
        }
        for named in routes_in(&text) {
            count += 1;
            // In no document of the hub, as each network has its own.
            let is_of_network = named.starts_with("/api/plugin/x/") || named.starts_with("/api/public/x/");
            if !is_of_network && !routes.iter().any(|route| is_route(named, route)) {
                unknown.push(format!("{page}: {named}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert!(count > 100, "{count}");
}

#[test]
fn links_lead_somewhere() {
    let output = Command::new("python3").arg(root().join("scripts/check-links")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn pages_and_tools_name_a_hub_and_a_key_the_same() {
    for (page, text) in pages() {
        for other in ["HUB_API_KEY", "$HUB/", "${HUB}", "$KEY", "HUB_TOKEN"] {
            assert!(!text.contains(other), "{page} says {other}: it is HUB_URL and HUB_KEY everywhere");
        }
    }
}

/// The commands of a section, in its order.
fn commands(page: &str, section: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let (_, after) = text.split_once(&format!("\n## {section}\n")).unwrap();
    let section = after.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("       ")).map(|line| line.trim().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_steps_of_moving_a_network_run_in_their_order() {
    let (from, to) = (Installation::new(Backend::sqlite()), Installation::new(Backend::postgres().await));
    let created = from.json(&["admin", "network", "create", "mynetwork", "--json"]);
    let key = created["apiKey"].as_str().unwrap();
    let serving = from.serve();
    let owner = serving.client(key);
    let server = json!({"serverId": "lobby", "serverType": "lobby", "host": "10.0.0.1", "port": 25565});
    owner.post("/api/plugin/servers/register", server).await.expect(201);
    let player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
    let join = json!({"playerUuid": player, "playerName": "Notch", "serverId": "lobby"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
    let modify = format!("/api/plugin/economy/player/{player}/currencies/modify");
    owner.post(&modify, json!({"currency": "coins", "amount": 7})).await.expect(200);
    let other = to.serve();

    let target =
        format!("--database {} --data {}", to.settings.database.as_deref().unwrap(), to.settings.data.display());
    let steps = commands("docs/operate/export-and-import.md", "Steps");
    assert_eq!(steps.len(), 6, "{steps:?}");
    let steps: Vec<_> =
        steps.iter().map(|step| step.replace("--database postgres://hub@db/hub --data /srv/hub", &target)).collect();
    let folder = TempDir::new().unwrap();
    let path = format!("{}:{}", Path::new(HUB).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = |step: &String| {
        let mut bash = Command::new("bash");
        bash.args(["-c", step]).current_dir(folder.path()).env("PATH", &path).env("HUB_DATA", &from.settings.data);
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&steps[0]);
    // The page's second step, which waits for this.
    serving.signal("-TERM");
    drop(serving);
    let printed: Vec<_> = steps[1..].iter().map(|step| (step, run(step))).collect();
    let (_, sums) = printed.iter().find(|(step, _)| step.starts_with("sha256sum")).unwrap();
    let sums: Vec<_> = sums.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(sums.len(), 2, "{sums:?}");
    assert_eq!(sums[0], sums[1], "the export of the imported network is another");
    let owner = other.client(key);
    let balances = format!("/api/plugin/economy/player/{player}/currencies");
    for attempt in 0.. {
        let answer = owner.get(&balances).await;
        if answer.status == 200 {
            assert_eq!(answer.body, json!([{"currencyName": "coins", "balance": 7}]));
            break;
        }
        assert!(attempt < 300 && answer.status == 403, "{}", answer.body);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
