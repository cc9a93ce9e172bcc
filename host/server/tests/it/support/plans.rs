//! No statement of the hub reads a whole table, but for the small ones.

use std::path::Path;
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Tables with the beginning of the step by which they may be read whole, and the reason.
const WHOLE: &[(&str, &str, &str)] = &[
    ("hub_secrets", "", "one row for each purpose"),
    ("hub_nodes", "", "one row for each node"),
    ("shard_leases", "", "256 rows"),
    ("hub_identity", "", "one row"),
    ("database_epoch", "", "one row"),
    ("database_positions", "", "one row for each node"),
    ("clock_anchors", "", "one row for each node"),
    ("clock_confirmation", "", "one row"),
    ("usage_nodes", "", "one row for each node"),
    ("usage_streams", "", "one row for each node and network with open streams, when nodes come and go"),
    ("usage_progress", "", "one row"),
    ("plans", "", "the operator makes few"),
    ("backup_holds", "", "one row for each running backup"),
    ("restores", "", "one row for each restore"),
    ("network_deletions", "", "one row for each deleted network, for the operator"),
    ("network_moves", "", "one row for each network that moves or has moved"),
    ("networks", "", "the operator's lists, and the start of a hub"),
    ("persons", "", "the operator's lists, a page at a time"),
    ("person_links", "", "invitations by an operator who goes"),
    ("jobs", "", "the operator's lists, and the start of a hub"),
    ("outbox", "USING COVERING INDEX outbox_by_network", "the first of each network, or the first 10,000"),
    ("world_leases", "USING COVERING INDEX world_leases_", "the first of an index, by leaps from network to network"),
    ("world_leases", "USING INDEX world_leases_", "the same"),
    ("transfers", "USING COVERING INDEX transfers_due", "the same"),
    ("transfers", "USING INDEX transfers_due", "the same"),
    ("deliveries", "USING COVERING INDEX deliveries_due_of_network", "the same"),
    ("punishments", "USING COVERING INDEX punishments_due_of_network", "the same"),
    ("handler_queue", "", "the same, in the order of its key"),
    ("handler_events", "", "the same"),
    ("module_schedules", "USING COVERING INDEX module_schedules_due", "the same"),
    ("module_timers", "USING COVERING INDEX module_timers_due", "the same"),
    ("webhooks", "USING INDEX webhooks_due", "a partial index"),
];

/// Tables of the schema.
static TABLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
    let mut tables = vec![];
    for file in std::fs::read_dir(schema).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("CREATE TABLE ") else { continue };
            tables.push(rest.split([' ', '(']).next().unwrap().to_owned());
        }
    }
    assert!(tables.len() > 50);
    tables
});

/// Texts of the hub's own sources.
static SOURCES: LazyLock<String> = LazyLock::new(|| {
    fn read(folder: &Path, into: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut all = String::new();
    for part in ["core", "gate", "platform", "extensions", "game", "operation", "server"] {
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(part).join("src"), &mut all);
    }
    all
});

/// Statements of this process that were refused.
static REFUSED: Mutex<Vec<String>> = Mutex::new(vec![]);

/// Fails if a statement was refused: a background pass only logs it, and never does its work.
pub fn check_none_refused() {
    let refused = REFUSED.lock();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Reason against a plan, which is kept for [`check_none_refused`].
pub fn judge_and_keep(text: &str, plan: &[String]) -> Option<String> {
    let reason = judge(text, plan)?;
    REFUSED.lock().push(format!("{reason}: {text}"));
    Some(reason)
}

/// Reason against a plan: it reads a whole table.
fn judge(text: &str, plan: &[String]) -> Option<String> {
    let scanned = plan.iter().filter_map(|step| step.strip_prefix("SCAN ")).find_map(|step| {
        let (name, rest) = step.split_once(' ').unwrap_or((step, ""));
        let table = table_of(text, name)?;
        let is_small = WHOLE.iter().any(|(small, how, _)| *small == table && rest.starts_with(how));
        (!is_small).then_some(table)
    })?;
    // Tests look into tables by statements of their own.
    let line = text.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or_default();
    let ends = |after: &str| after.starts_with(['"', '\n', '\\']);
    let is_of_hub = SOURCES.match_indices(line).any(|(at, _)| ends(&SOURCES[at + line.len()..]));
    is_of_hub.then(|| format!("it reads the whole table {scanned}; use an index, or say in support/plans.rs why not"))
}

/// Table behind a name of the plan; none for a part of the statement.
fn table_of(text: &str, name: &str) -> Option<String> {
    if TABLES.iter().any(|table| table == name) {
        return Some(name.to_owned());
    }
    let words: Vec<_> = text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty()).collect();
    let is_named = |at: usize| match words.get(at + 1) {
        Some(word) if word.eq_ignore_ascii_case("as") => words.get(at + 2) == Some(&name),
        word => word == Some(&name),
    };
    let found = (0..words.len()).find(|at| TABLES.iter().any(|table| table == words[*at]) && is_named(*at))?;
    Some(words[found].to_owned())
}

#[test]
fn a_scan_of_a_large_table_is_refused() {
    let scan = |step: &str| vec![step.to_owned()];
    let judged = judge("SELECT network_id, key_id FROM api_keys k", &scan("SCAN k"));
    assert!(judged.is_none(), "a statement of a test");
    let of_hub = "SELECT network_id FROM networks";
    assert!(judge(of_hub, &scan("SCAN networks")).is_none(), "it is small");
    assert!(judge(of_hub, &scan("SCAN punishments")).is_some());
    assert!(judge(of_hub, &scan("SEARCH punishments USING INDEX x (network_id=?)")).is_none());
    assert_eq!(table_of("SELECT 1 FROM networks AS n JOIN api_keys k", "k").as_deref(), Some("api_keys"));
    assert_eq!(table_of("SELECT 1 FROM networks AS n JOIN api_keys k", "n").as_deref(), Some("networks"));
    assert_eq!(table_of("SELECT 1 FROM (SELECT 1 FROM networks LIMIT 1) AS counted", "counted"), None);
}
