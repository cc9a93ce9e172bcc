//! Help: commands in groups, and options that many commands share in groups of their own, of which `-h` shows the everyday ones.

use std::fmt::Write as _;

use clap::Command;

/// Commands by what they are for, in the order of the help of `hub`.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Run a hub", &["serve", "demo", "admin"]),
    (
        "Game servers and players",
        &[
            "server",
            "player",
            "punishment",
            "report",
            "appeal",
            "permission",
            "economy",
            "delivery",
            "chat",
            "line",
            "transfer",
            "world",
            "events",
        ],
    ),
    ("Content", &["module", "config", "collection", "message", "artifact", "provisioning", "import"]),
    (
        "Your network and account",
        &["login", "logout", "network", "api-key", "person", "secret", "webhook", "audit", "usage"],
    ),
    ("The hub's operator, from anywhere", &["operator", "waitlist", "hub"]),
    ("For programs", &["mcp"]),
    ("Reference", &["openapi", "limits", "completions", "man", "help"]),
];

/// Options of the database, which many commands have, and of a running hub.
const OPTIONS: [(&str, &[&str]); 7] = [
    ("Storage", &["data", "database", "blobs", "secrets_key", "config", "database_connections", "database_timeout"]),
    (
        "Connections",
        &[
            "listen",
            "public_url",
            "trusted_proxies",
            "max_connections",
            "max_connections_per_address",
            "artifact_link_ttl",
        ],
    ),
    ("Cluster", &["bus", "bus_ca", "bus_credentials", "node_url"]),
    ("Game", &["engines", "offline_after", "lease", "geoip", "geo_routing"]),
    ("Modules and webhooks", &["record_memory", "module_cpus", "module_cache", "webhook_networks"]),
    ("Mail and sign-in", &["smtp", "mail_from", "oidc_issuer", "oidc_client_id", "oidc_client_secret"]),
    ("Monitoring", &["metrics", "otlp", "usage_sink", "usage_sink_token"]),
];

/// Those that `-h` shows; `--help` shows all.
const EVERYDAY: [&str; 6] = ["data", "database", "config", "listen", "public_url", "bus"];

/// Arranges the help of all commands.
pub(super) fn arrange(command: Command) -> Command {
    let listed = groups(&command);
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}");
    group_options(command)
        .help_template(template)
        .after_help("`hub COMMAND -h` describes a command in short, `hub COMMAND --help` in full.")
}

/// Lists the commands by their groups.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{title}:");
        for name in names {
            let about = match command.find_subcommand(name) {
                Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
                None if *name == "help" => "Print the help of a command".to_owned(),
                None => continue,
            };
            let _ = writeln!(text, "  {name:<13} {about}");
        }
        text.push('\n');
    }
    text
}

fn group_options(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let id = argument.get_id().as_str();
        let group = OPTIONS.iter().find(|(_, ids)| ids.contains(&id));
        let Some((title, _)) = group.filter(|_| argument.get_long().is_some()) else { return argument };
        let is_everyday = EVERYDAY.contains(&id);
        argument.help_heading(*title).hide_short_help(!is_everyday)
    });
    command.mut_subcommands(group_options)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, CommandFactory as _};

    use super::{GROUPS, OPTIONS, arrange};
    use crate::cli::{Cli, api};
    use crate::config::ServeArgs;

    #[test]
    fn every_command_and_every_option_is_in_a_group() {
        let command = api::extend(Cli::command(), |_| true);
        for name in command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name) {
            assert!(GROUPS.iter().any(|(_, names)| names.contains(&name)), "{name}");
        }
        for option in ServeArgs::augment_args(Command::new("serve")).get_arguments() {
            let id = option.get_id().as_str();
            assert!(OPTIONS.iter().any(|(_, ids)| ids.contains(&id)), "{id}");
        }
    }

    #[test]
    fn the_short_help_is_short() {
        let help = arrange(api::extend(Cli::command(), |_| false)).render_help().to_string();
        assert!(help.lines().count() < 75 && !help.contains('{'), "{help}");
        let mut command = arrange(Cli::command());
        let serve = command.find_subcommand_mut("serve").unwrap();
        let short = serve.render_help().to_string();
        assert!(short.contains("--listen") && !short.contains("--bus-ca") && short.lines().count() < 30, "{short}");
        assert!(serve.render_long_help().to_string().contains("--bus-ca"));
    }
}
