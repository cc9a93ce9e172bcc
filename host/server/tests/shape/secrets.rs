//! A backup is no key: each column that is named like a secret is hashed, sealed, or here with the reason why it opens nothing.

use std::collections::BTreeSet;
use std::fs;

use hub::components::tables;

/// Parts of names of columns that may hold a secret.
const WORDS: [&str; 13] = [
    "secret",
    "token",
    "code",
    "password",
    "key",
    "credential",
    "seed",
    "signature",
    "claim",
    "url",
    "pin",
    "otp",
    "bearer",
];
/// Ends of names of columns with hashes.
const HASHED: [&str; 3] = ["sha256", "_hash", "_mac"];
/// Columns that hold no secret, or that others than tables' rules seal.
const REASONS: [(&str, &str); 38] = [
    ("api_keys.key_id", "the id, which is in each audit entry; the secret is hashed"),
    ("balances.owner_key", "names an owner"),
    ("collections.key_field", "names a field"),
    ("currency_ledger.key_id", "an id"),
    ("currency_ledger.owner_key", "names an owner"),
    ("deliveries.claim_end", "a state"),
    ("deliveries.claimed_by", "names a server"),
    ("handler_dead_letters.code", "an error's"),
    ("handler_dead_letters.event_key", "names what events are ordered by"),
    ("handler_queue.event_key", "the same"),
    ("hub_nodes.url", "an address, where each request between nodes is signed"),
    ("hub_secrets.secret", "sealed by the component itself"),
    ("idempotency_keys.error_code", "an error's"),
    ("idempotency_keys.idempotency_key", "chosen by a caller, and nothing without an API key"),
    ("import_sources.source_key", "names a row of another tool"),
    ("imports.key_id", "an id"),
    ("jobs.job_key", "names work"),
    ("localization_catalogs.default_key", "a locale"),
    ("localization_locales.locale_key", "a locale"),
    ("localization_messages.locale_key", "a locale"),
    ("localization_messages.message_key", "names a message"),
    ("module_state.key", "names a value"),
    ("module_store.key", "names a value"),
    ("network_imports.token", "tells one process of an import from another; no route takes it"),
    ("network_moves.url", "the address of another hub, which the operator chose"),
    ("persons.totp_secret", "sealed by the component itself, for its person"),
    ("provisioned_servers.user_code", "of the game's own sign-in, for minutes; staff type it there"),
    ("provisioned_servers.verify_url", "the page for it"),
    ("statistics.owner_key", "names an owner"),
    ("unreferenced_blobs.blob_key", "names a file in the store"),
    ("usage_progress.claimed_by", "names a process"),
    ("webhooks.url_by", "an id"),
    ("world_blobs.blob_key", "names a file in the store, to which links are signed"),
    ("world_leases.blob_key", "the same"),
    ("world_leases.hub_url", "an address"),
    ("world_leases.seed", "of a world's terrain"),
    ("worlds.blob_key", "names a file in the store, to which links are signed"),
    ("worlds.world_key", "names a world"),
];

/// Columns of texts and bytes of both schemas, as `table.column`.
fn columns() -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    for (_, file) in super::migrations() {
        let mut table = String::new();
        for line in fs::read_to_string(&file).unwrap().lines() {
            if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
                rest.split([' ', '(']).next().unwrap_or_default().clone_into(&mut table);
            } else if let Some(column) = line.strip_prefix("    ")
                && let Some((name, rest)) = column.split_once(' ')
                && ["TEXT", "BLOB", "BYTEA"].iter().any(|kind| rest.trim_start().starts_with(kind))
            {
                columns.insert(format!("{table}.{name}"));
            }
        }
    }
    columns
}

#[test]
fn columns_that_are_named_like_secrets_are_hashed_or_sealed() {
    let columns = columns();
    assert!(columns.len() > 200, "found only {} columns", columns.len());
    let rules = tables().rules().iter();
    let sealed: BTreeSet<String> =
        rules.flat_map(|rule| rule.sealed.iter().map(|it| format!("{}.{}", rule.name, it.column()))).collect();
    for column in &sealed {
        assert!(columns.contains(column), "there is no column {column} to seal");
    }
    for column in &columns {
        let (_, name) = column.split_once('.').unwrap();
        let is_named = WORDS.iter().any(|word| name.contains(word));
        let is_hashed = HASHED.iter().any(|end| name.ends_with(end));
        let is_listed = REASONS.iter().any(|(listed, _)| listed == column);
        assert!(
            !is_named || is_hashed || sealed.contains(column) || is_listed,
            "{column} is named like a secret: store its hash, seal it by its table's rule, or say in {} why it opens nothing",
            file!()
        );
    }
    for (listed, reason) in REASONS {
        assert!(columns.contains(listed) && !sealed.contains(listed), "{listed} need not be listed");
        assert!(reason.len() > 4, "{listed}: {reason}");
    }
}
