//! Names of operations as commands: the noun comes from the operation's tag, the verb from its id.

/// Commands of a tag.
struct Area {
    tag: &'static str,
    noun: &'static str,
    about: &'static str,
}

const fn area(tag: &'static str, noun: &'static str, about: &'static str) -> Area {
    Area { tag, noun, about }
}

/// Each tag of the document. Several may share a noun; the first says what it is about.
const AREAS: &[Area] = &[
    area("Servers", "server", "List game servers, start and stop them, run commands on them, read their logs"),
    area("Manage: servers", "server", ""),
    area("Node agents", "server", ""),
    area("Provisioning", "provisioning", "Manage the servers that node agents install, and their bundles"),
    area("Artifacts", "artifact", "Upload plugins and install them on servers"),
    area("Players", "player", "Find players, read and write their data, notes and sessions"),
    area("Player sessions", "player", ""),
    area("Staff notes", "player", ""),
    area("Privacy", "player", ""),
    area("Punishments", "punishment", "Ban, mute, warn and kick players, and list punishments"),
    area("Reports", "report", "List and decide reports of players"),
    area("Appeals", "appeal", "List and decide appeals against punishments"),
    area("Deliveries", "delivery", ""),
    area("Permissions", "permission", "Edit groups and permissions, and ask what a player may do"),
    area("Economy", "economy", "Read balances and make transactions"),
    area("Manage: economy", "economy", ""),
    area("Matchmaking", "line", "Find servers for players, and manage waiting lines and their tickets"),
    area("Transfers", "transfer", "Send players to servers"),
    area("Chat", "chat", "Send chat messages as a server does"),
    area("Worlds", "world", "Open, save and release worlds"),
    area("Config", "config", "Read and publish config documents"),
    area("Collections", "collection", "Read and write documents of collections"),
    area("Localization", "message", "Edit messages, languages and their catalogs"),
    area("Modules", "module", ""),
    area("Secrets", "secret", "Set the secrets by which requests to a network's own routes are checked"),
    area("Webhooks", "webhook", ""),
    area("Imports", "import", ""),
    area("Keys", "api-key", "Create, list, rotate and revoke the API keys of a network"),
    area("People", "person", "Invite people, change their roles, and manage accounts"),
    area("Network", "network", "Read and change the network's settings"),
    area("Overview", "network", ""),
    area("Usage", "usage", "List the network's usage"),
    area("Audit", "audit", "Read and export the audit log"),
    area("Operator", "operator", "Manage networks and plans of a hub, as its operator"),
    area("Waitlist", "waitlist", "Manage the waiting list of new networks"),
    area("Events", "events", "Print events as they happen"),
    area("About", "hub", "Ask a hub for its version and state"),
    area("Health", "hub", ""),
];

/// Verbs that say more than their ids.
const VERBS: &[(&str, &str)] = &[("openEventStream", ""), ("findMatch", "find")];

/// Nouns with their help texts.
pub(super) fn nouns() -> Vec<(&'static str, &'static str)> {
    let mut nouns = vec![];
    for area in AREAS {
        if !nouns.iter().any(|(noun, _)| *noun == area.noun) {
            nouns.push((area.noun, area.about));
        }
    }
    nouns
}

/// Noun of a tag.
pub(super) fn noun(tag: &str) -> Option<&'static str> {
    AREAS.iter().find(|area| area.tag == tag).map(|area| area.noun)
}

/// Verb of an operation: its id without the noun, such as `list` for `listServers`.
pub(super) fn verb(noun: &str, id: &str) -> String {
    if let Some((_, verb)) = VERBS.iter().find(|(it, _)| *it == id) {
        return (*verb).to_owned();
    }
    let mut words = kebab(id).split('-').map(str::to_owned).collect::<Vec<_>>();
    let stem = noun.rsplit('-').next().unwrap_or(noun);
    if let Some(at) = words.iter().skip(1).position(|word| is_noun(word, stem)) {
        words.remove(at + 1);
    }
    words.join("-")
}

fn is_noun(word: &str, noun: &str) -> bool {
    match noun {
        "person" => matches!(word, "person" | "people"),
        _ => word == noun || word.strip_suffix('s') == Some(noun),
    }
}

/// `aName`, `A-Name` and `a.name` as `a-name`, `NameID` as `name-id`.
pub(super) fn kebab(name: &str) -> String {
    let (mut kebab, mut was_upper) = (String::new(), true);
    for letter in name.chars() {
        let letter = if matches!(letter, '_' | '.') { '-' } else { letter };
        if letter.is_ascii_uppercase() && !was_upper && !kebab.ends_with('-') {
            kebab.push('-');
        }
        was_upper = letter.is_ascii_uppercase();
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
