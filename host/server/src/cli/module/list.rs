//! Lists a network's modules.

use clap::Args;
use hub_sandbox::test_case::one_line;
use serde_json::{Value, json};

use crate::cli::client;
use crate::cli::module::{POINTS, Remote, chain, format};

#[derive(Args, Debug)]
pub(in crate::cli) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Show {
    /// Module name
    #[arg(value_parser = client::segment)]
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    remote: Remote,
}

impl List {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let modules = hub.get("/api/manage/modules?limit=200").await?;
        let mut chains = vec![];
        for point in POINTS {
            chains.push(hub.get(&format!("/api/manage/extension-points/{point}")).await?);
        }
        if self.json {
            print_json!(json!({"modules": modules["items"], "extensionPoints": chains}));
            return Ok(());
        }
        print!("{}", version_table(&modules));
        for chain in &chains {
            println!("{}", chain::summary(chain));
        }
        Ok(())
    }
}

impl Show {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let hub = self.remote.client()?;
        let modules = hub.get(&format!("/api/manage/modules/{}?limit=200", self.name)).await?;
        let mut links = vec![];
        for point in POINTS {
            let chain = hub.get(&format!("/api/manage/extension-points/{point}")).await?;
            let all = chain["modules"].as_array().cloned().unwrap_or_default().into_iter();
            links.extend(all.filter(|link| link["name"] == self.name.as_str()).map(|link| (point, link)));
        }
        if self.json {
            let links = links.into_iter().map(|(point, mut link)| {
                link["point"] = point.into();
                link
            });
            print_json!(json!({"versions": modules["items"], "links": links.collect::<Vec<_>>()}));
            return Ok(());
        }
        print!("{}", version_table(&modules));
        for version in modules["items"].as_array().into_iter().flatten() {
            if let Some(reason) = version["reason"].as_str() {
                println!("\nversion {} was rejected: {reason}", version["version"]);
            }
        }
        for (point, link) in links {
            println!("\n{point}: {}, breaker {}", chain::link_summary(&link), format::text(&link, "breaker"));
            println!("  config    {}", one_line(&link["config"]));
            let count = |field: &str| format::number(link[field].as_u64().unwrap_or(0));
            let late = if link["late"].as_u64().unwrap_or(0) == 0 {
                String::new()
            } else {
                format!(", {} late", count("late"))
            };
            println!("  calls     {}, of which {} failed{}{late}", count("calls"), count("failures"), failures(&link));
            println!("  duration  p50 {} µs, p99 {} µs", count("p50Micros"), count("p99Micros"));
            println!("  fuel      p50 {}", count("fuelP50"));
            if let Some(shadow) = link["shadow"].as_object() {
                let counts =
                    ["same", "different", "failed", "skipped"].map(|count| format!("{count} {}", shadow[count]));
                println!("  shadow    {}", counts.join(", "));
                for example in shadow["examples"].as_array().into_iter().flatten() {
                    println!("    {} {}", format::timestamp(&example["at"]), format::text(example, "callId"));
                    println!("      expected {}", one_line(&example["expected"]));
                    println!("      answered {}", one_line(&example["actual"]));
                }
            }
        }
        Ok(())
    }
}

/// Formats the number of failures of each kind.
fn failures(link: &Value) -> String {
    let outcomes =
        link["outcomes"].as_object().into_iter().flatten().filter(|(code, _)| !["ok", "late"].contains(&code.as_str()));
    let counts: Vec<_> = outcomes.map(|(code, count)| format!("{code} {count}")).collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

fn version_table(page: &Value) -> String {
    let rows: Vec<_> = page["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|module| {
            let points: Vec<_> = module["points"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let size = module["sizeBytes"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
            [
                format::text(module, "name").to_owned(),
                module["version"].to_string(),
                format::text(module, "state").to_owned(),
                points.join(", "),
                format::bytes(size),
                format::timestamp(&module["createdAt"]),
            ]
        })
        .collect();
    format::table(["name", "version", "state", "points", "size", "uploaded"], &rows)
}
