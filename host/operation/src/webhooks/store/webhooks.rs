//! SQL of webhooks themselves.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::secret_text::SecretText;
use crate::secrets::{HubSecrets, context_of_table};
use crate::values::NetworkId;
use crate::webhooks::model::{DisabledReason, Webhook, WebhookEvent};
use crate::webhooks::store::{json, unreadable};

/// Count for the network's limit.
pub(in crate::webhooks) const WEBHOOKS: Rows =
    Rows::few(Limit::Webhooks, "SELECT COUNT(*) FROM webhooks WHERE network_id = $1");

macro_rules! columns {
    () => {
        "network_id, webhook_id, kind, name, url, events, templates, secret, previous_secret, previous_until, state,
         disabled_reason, created_at, created_by, updated_at, waiting, dropped, failures, failing_since, last_success_at,
         last_failure_at, next_attempt_at, last_seq"
    };
}

#[derive(sqlx::FromRow)]
struct WebhookRow {
    network_id: NetworkId,
    webhook_id: String,
    kind: String,
    name: Option<String>,
    url: SecretText,
    events: String,
    templates: String,
    secret: SecretText,
    previous_secret: Option<SecretText>,
    previous_until: Option<Millis>,
    state: String,
    disabled_reason: Option<String>,
    created_at: Millis,
    created_by: Option<String>,
    updated_at: Millis,
    waiting: i64,
    dropped: i64,
    failures: i64,
    failing_since: Option<Millis>,
    last_success_at: Option<Millis>,
    last_failure_at: Option<Millis>,
    next_attempt_at: Millis,
    last_seq: i64,
}

const ENABLED: &str = "ENABLED";
const DISABLED: &str = "DISABLED";

/// Context in which URLs and secrets are sealed.
fn context() -> String {
    context_of_table("webhooks")
}

fn seal(secrets: &HubSecrets, text: &SecretText) -> Result<String, Error> {
    secrets.key().seal_text(&context(), text.expose())
}

/// A newer node may know more of them.
fn known_events(stored: &str) -> Result<Vec<WebhookEvent>, Error> {
    let names: Vec<String> = serde_json::from_str(stored).map_err(unreadable)?;
    Ok(names.iter().filter_map(|name| WebhookEvent::parse(name).ok()).collect())
}

impl WebhookRow {
    /// The webhook with its secrets. Without their key they are empty, so that it signs nothing and leads nowhere until its
    /// owner sets them again.
    fn open(self, secrets: &HubSecrets) -> Result<Webhook, Error> {
        let (row, key, context) = (self, secrets.key(), context());
        let open = |stored: &SecretText| key.unseal_text(&context, stored.expose()).map(SecretText::from);
        let or_lost = |opened: Option<SecretText>| opened.unwrap_or_else(|| String::new().into());
        let reason = || row.disabled_reason.as_deref().unwrap_or_default().parse().map_err(unreadable);
        Ok(Webhook {
            disabled: if row.state == DISABLED { Some(reason()?) } else { None },
            network: row.network_id,
            id: row.webhook_id,
            kind: row.kind.parse().map_err(unreadable)?,
            name: row.name,
            url: or_lost(open(&row.url)),
            events: known_events(&row.events)?,
            templates: serde_json::from_str(&row.templates).map_err(unreadable)?,
            secret: or_lost(open(&row.secret)),
            previous_secret: row.previous_secret.as_ref().and_then(open),
            previous_until: row.previous_until,
            created_at: row.created_at,
            created_by: row.created_by,
            updated_at: row.updated_at,
            waiting: row.waiting,
            dropped: row.dropped,
            failures: row.failures,
            failing_since: row.failing_since,
            last_success_at: row.last_success_at,
            last_failure_at: row.last_failure_at,
            next_attempt_at: row.next_attempt_at,
            last_seq: row.last_seq,
        })
    }
}

fn state(webhook: &Webhook) -> &'static str {
    if webhook.disabled.is_some() { DISABLED } else { ENABLED }
}

fn reason(webhook: &Webhook) -> Option<&'static str> {
    webhook.disabled.map(<&str>::from)
}

/// Adds a webhook.
pub(in crate::webhooks) async fn insert(tx: &mut Tx, secrets: &HubSecrets, webhook: &Webhook) -> Result<(), Error> {
    tx.query(
        "INSERT INTO webhooks (network_id, webhook_id, kind, name, url, events, templates, secret, state, disabled_reason,
             created_at, created_by, url_by, updated_at, last_seq, waiting, waiting_bytes, dropped, failures, pauses,
             next_attempt_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $11, 0, 0, 0, 0, 0, 0, 0)",
    )
    .bind(webhook.network)
    .bind(&webhook.id)
    .bind(<&str>::from(webhook.kind))
    .bind(&webhook.name)
    .bind(seal(secrets, &webhook.url)?)
    .bind(json(&webhook.events)?)
    .bind(json(&webhook.templates)?)
    .bind(seal(secrets, &webhook.secret)?)
    .bind(state(webhook))
    .bind(reason(webhook))
    .bind(webhook.created_at)
    .bind(&webhook.created_by)
    .execute()
    .await?;
    Ok(())
}

/// A webhook that somebody created or gave its URL.
pub(in crate::webhooks) struct CreatedWebhook {
    pub(in crate::webhooks) id: String,
    pub(in crate::webhooks) name: Option<String>,
    pub(in crate::webhooks) events: Vec<WebhookEvent>,
}

/// Enabled webhooks that a key or person created or gave their URL.
pub(in crate::webhooks) async fn of_creator(
    tx: &mut Tx,
    network: NetworkId,
    creator: &str,
) -> Result<Vec<CreatedWebhook>, Error> {
    let rows: Vec<(String, Option<String>, String)> = tx
        .query(
            "SELECT webhook_id, name, events FROM webhooks
             WHERE network_id = $1 AND (created_by = $2 OR url_by = $2) AND state = 'ENABLED'
             ORDER BY created_at, webhook_id",
        )
        .bind(network)
        .bind(creator)
        .all()
        .await?;
    let created = |(id, name, events): (_, _, String)| Ok(CreatedWebhook { id, name, events: known_events(&events)? });
    rows.into_iter().map(created).collect()
}

/// Records who chose a webhook's URL.
pub(in crate::webhooks) async fn set_url_by(tx: &mut Tx, network: NetworkId, id: &str, by: &str) -> Result<(), Error> {
    let set = "UPDATE webhooks SET url_by = $3 WHERE network_id = $1 AND webhook_id = $2";
    tx.query(set).bind(network).bind(id).bind(by).execute().await?;
    Ok(())
}

/// Has the webhooks of a key count as another's.
pub(in crate::webhooks) async fn pass_on(
    tx: &mut Tx,
    network: NetworkId,
    from: &str,
    to: Option<&str>,
) -> Result<(), Error> {
    for pass in [
        "UPDATE webhooks SET created_by = $3 WHERE network_id = $1 AND created_by = $2",
        "UPDATE webhooks SET url_by = $3 WHERE network_id = $1 AND url_by = $2",
    ] {
        tx.query(pass).bind(network).bind(from).bind(to).execute().await?;
    }
    Ok(())
}

/// Stores an owner's changes, and a new URL if there is one: a node without its key must not replace it.
pub(in crate::webhooks) async fn update(
    tx: &mut Tx,
    secrets: &HubSecrets,
    webhook: &Webhook,
    has_new_url: bool,
) -> Result<(), Error> {
    let url = has_new_url.then(|| seal(secrets, &webhook.url)).transpose()?;
    tx.query(
        "UPDATE webhooks SET name = $3, url = COALESCE($4, url), events = $5, templates = $6, state = $7, disabled_reason = $8,
             updated_at = $9
         WHERE network_id = $1 AND webhook_id = $2",
    )
    .bind(webhook.network)
    .bind(&webhook.id)
    .bind(&webhook.name)
    .bind(url)
    .bind(json(&webhook.events)?)
    .bind(json(&webhook.templates)?)
    .bind(state(webhook))
    .bind(reason(webhook))
    .bind(webhook.updated_at)
    .execute()
    .await?;
    Ok(())
}

/// Ends the pauses after failures, that of the webhook and those of subjects. `is_new` also resets the failures.
pub(in crate::webhooks) async fn retry(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    is_new: bool,
    now: Millis,
) -> Result<(), Error> {
    const FORGET: &str = "UPDATE webhooks SET next_attempt_at = $3, held_until = NULL, failures = 0, pauses = 0,
             failing_since = NULL
         WHERE network_id = $1 AND webhook_id = $2";
    const RETRY: &str = "UPDATE webhooks SET next_attempt_at = $3, held_until = NULL
         WHERE network_id = $1 AND webhook_id = $2 AND next_attempt_at > $3
             AND (failures > 0 OR next_attempt_at = held_until)";
    tx.query(if is_new { FORGET } else { RETRY }).bind(network).bind(id).bind(now).execute().await?;
    tx.query(
        "UPDATE webhook_deliveries SET held_until = NULL
         WHERE network_id = $1 AND webhook_id = $2 AND state = 'WAITING' AND held_until IS NOT NULL",
    )
    .bind(network)
    .bind(id)
    .execute()
    .await?;
    Ok(())
}

pub(in crate::webhooks) async fn find(
    on: impl Into<Executor<'_>>,
    secrets: &HubSecrets,
    network: NetworkId,
    id: &str,
) -> Result<Option<Webhook>, Error> {
    let row: Option<WebhookRow> = on
        .into()
        .query(concat!("SELECT ", columns!(), " FROM webhooks WHERE network_id = $1 AND webhook_id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    row.map(|row| row.open(secrets)).transpose()
}

/// Variant of [`find`] whose row no one else changes before the transaction ends.
pub(in crate::webhooks) async fn find_locked(
    tx: &mut Tx,
    secrets: &HubSecrets,
    network: NetworkId,
    id: &str,
) -> Result<Option<Webhook>, Error> {
    let lock = "UPDATE webhooks SET name = name WHERE network_id = $1 AND webhook_id = $2";
    tx.query(lock).bind(network).bind(id).execute().await?;
    find(tx, secrets, network, id).await
}

/// The network's webhooks, oldest first, and their number.
pub(in crate::webhooks) async fn list(
    db: &Db,
    secrets: &HubSecrets,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Webhook>, i64), Error> {
    let (rows, total): (Vec<WebhookRow>, i64) = db
        .page(
            "SELECT COUNT(*) FROM webhooks WHERE network_id = $1",
            concat!(
                "SELECT ",
                columns!(),
                " FROM webhooks WHERE network_id = $1 ORDER BY created_at, webhook_id LIMIT $2 OFFSET $3"
            ),
            |statement| statement.bind(network),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(|row| row.open(secrets)).collect::<Result<_, _>>()?, total))
}

/// Deletes a webhook and its deliveries.
pub(in crate::webhooks) async fn delete(tx: &mut Tx, network: NetworkId, id: &str) -> Result<(), Error> {
    tx.query("DELETE FROM webhooks WHERE network_id = $1 AND webhook_id = $2").bind(network).bind(id).execute().await?;
    tx.query("DELETE FROM webhook_deliveries WHERE network_id = $1 AND webhook_id = $2")
        .bind(network)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

/// Replaces the secret; the previous one stays valid until then.
pub(in crate::webhooks) async fn rotate(
    tx: &mut Tx,
    secrets: &HubSecrets,
    (network, id): (NetworkId, &str),
    secret: &SecretText,
    (previous_until, now): (Millis, Millis),
) -> Result<(), Error> {
    tx.query(
        "UPDATE webhooks SET previous_secret = secret, previous_until = $4, secret = $3, updated_at = $5
         WHERE network_id = $1 AND webhook_id = $2",
    )
    .bind(network)
    .bind(id)
    .bind(seal(secrets, secret)?)
    .bind(previous_until)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Disables a webhook with failing deliveries; false if it is not enabled.
pub(in crate::webhooks) async fn disable(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    reason: DisabledReason,
    now: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE webhooks SET state = 'DISABLED', disabled_reason = $3, updated_at = $4
             WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED'",
        )
        .bind(network)
        .bind(id)
        .bind(<&str>::from(reason))
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM webhooks WHERE state = 'ENABLED' AND waiting > 0 AND next_attempt_at <= $1
                 ORDER BY network_id LIMIT 1)
         UNION ALL
         SELECT (SELECT w.network_id FROM webhooks w
                 WHERE w.state = 'ENABLED' AND w.waiting > 0 AND w.next_attempt_at <= $1 AND w.network_id > n.network_id
                 ORDER BY w.network_id LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL";

/// Networks with due deliveries. Crosses networks: each is then served separately.
pub(in crate::webhooks) async fn due_networks(db: &Db, now: Millis) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(now).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

const DUE: &str = "SELECT webhook_id, failures FROM webhooks
     WHERE network_id = $1 AND state = 'ENABLED' AND waiting > 0 AND next_attempt_at <= $2
     ORDER BY next_attempt_at LIMIT $3";

/// A network's due webhooks, and their recent failures; longest due first.
pub(in crate::webhooks) async fn due(
    db: &Db,
    network: NetworkId,
    now: Millis,
    limit: i64,
) -> Result<Vec<(String, i64)>, Error> {
    db.query(DUE).bind(network).bind(now).bind(limit).all().await
}

/// Claims a due webhook, so that no other node sends to it until `until`.
pub(in crate::webhooks) async fn claim(
    db: &Db,
    secrets: &HubSecrets,
    (network, id): (NetworkId, &str),
    (now, until): (Millis, Millis),
) -> Result<Option<Webhook>, Error> {
    let row: Option<WebhookRow> = db
        .write(concat!(
            "UPDATE webhooks SET next_attempt_at = $4, held_until = NULL
             WHERE network_id = $1 AND webhook_id = $2 AND state = 'ENABLED' AND waiting > 0 AND next_attempt_at <= $3
             RETURNING ",
            columns!()
        ))
        .bind(network)
        .bind(id)
        .bind(now)
        .bind(until)
        .optional()
        .await?;
    row.map(|row| row.open(secrets)).transpose()
}

/// Ends the claim on a webhook that was made until `until`; the next attempt is at `next`.
pub(in crate::webhooks) async fn release(
    db: &Db,
    network: NetworkId,
    id: &str,
    (until, next): (Millis, Millis),
) -> Result<(), Error> {
    db.write(
        "UPDATE webhooks SET next_attempt_at = $4
         WHERE network_id = $1 AND webhook_id = $2 AND next_attempt_at = $3",
    )
    .bind(network)
    .bind(id)
    .bind(until)
    .bind(next)
    .execute()
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn due_webhooks_are_found_by_their_index() {
        for plan in query_plans(&[DUE_NETWORKS, DUE]).await {
            assert!(plan.iter().any(|step| step.contains("webhooks_due")), "{plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}
