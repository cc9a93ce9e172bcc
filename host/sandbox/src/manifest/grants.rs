//! Permissions that a module needs, and those that its owner grants.

use serde::{Deserialize, Serialize};

/// Permissions of a module: what it names in its manifest, or what a link grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Grants {
    /// Scopes of its effects and of the events it reads.
    pub scopes: Vec<String>,
    /// Hosts it fetches from.
    pub hosts: Vec<String>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Patterns of permission nodes that it sets.
    pub permission_nodes: Vec<String>,
    /// First words of commands that it runs, or `*`.
    pub commands: Vec<String>,
}

impl Grants {
    /// The permissions among these that are not granted; `None` if all are.
    pub fn missing_in(&self, granted: &Self) -> Option<Self> {
        let missing = |needed: &[String], granted: &[String]| -> Vec<String> {
            needed.iter().filter(|one| !granted.contains(one)).cloned().collect()
        };
        let all_commands = granted.commands.iter().any(|command| command == "*");
        let missing = Self {
            scopes: missing(&self.scopes, &granted.scopes),
            hosts: missing(&self.hosts, &granted.hosts),
            secrets: missing(&self.secrets, &granted.secrets),
            permission_nodes: self
                .permission_nodes
                .iter()
                .filter(|node| !granted.permits_node(node))
                .cloned()
                .collect(),
            commands: if all_commands { Vec::new() } else { missing(&self.commands, &granted.commands) },
        };
        (missing != Self::default()).then_some(missing)
    }

    /// True if a permission node, or a pattern of them, matches a pattern of these.
    pub fn permits_node(&self, node: &str) -> bool {
        self.permission_nodes.iter().any(|pattern| {
            let within = |prefix: &str| node.len() > prefix.len() && node.starts_with(prefix);
            pattern == node || pattern.strip_suffix('*').filter(|prefix| prefix.ends_with('.')).is_some_and(within)
        })
    }

    /// True if the first word of a command is granted.
    pub fn permits_command(&self, command: &str) -> bool {
        let first = command.trim_start().trim_start_matches('/').split_whitespace().next().unwrap_or_default();
        self.commands.iter().any(|granted| granted == "*" || granted == first)
    }
}
