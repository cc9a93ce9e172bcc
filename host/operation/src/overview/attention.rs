//! Things that need a person's attention.

use std::cmp::Reverse;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Caller, Scope};
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::modules;
use crate::overview::counts::Waiting;
use crate::overview::{COUNTED, plan};
use crate::values::Identifier;
use crate::{presence, webhooks};

/// Time for which a server that went offline needs attention: later it was given up.
const RECENTLY: Millis = 7 * 24 * 60 * 60 * 1000;
/// Offline servers that are listed.
const OFFLINE_LISTED: usize = 20;
/// Use of a limit, in percent, from which it needs attention.
const NEARLY_USED: i64 = 90;

/// Urgency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AttentionSeverity)]
pub(super) enum Severity {
    /// Something does not work.
    Serious,
    /// Something will not work soon, or not entirely.
    Warning,
    /// A person waits for an answer.
    Waiting,
}

/// Kind of thing that needs attention, which says what `subject` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = AttentionKind)]
pub(super) enum Kind {
    /// A server sent no heartbeat for a while, in the last seven days.
    ServerOffline,
    /// Deliveries of a webhook fail.
    WebhookFailing,
    /// The hub disabled a webhook, because its deliveries failed.
    WebhookDisabled,
    /// A module is skipped, because half of its calls failed. The subject is its extension point and name.
    ModuleSkipped,
    /// Events have waited for a module for more than a minute.
    ModuleLagging,
    /// A module did not handle events.
    DeadLetters,
    /// At least 90 % of a limit are used.
    LimitNearlyUsed,
    /// Players reported others.
    Reports,
    /// Punished players appealed.
    Appeals,
    /// Deliveries that may have happened: a person decides.
    HeldDeliveries,
}

/// Something that needs a person's attention.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AttentionItem)]
pub(super) struct Item {
    /// The same as long as it lasts.
    #[schema(example = "SERVER_OFFLINE/lobby-1")]
    id: String,
    kind: Kind,
    severity: Severity,
    /// Time at which it began; null if that is unknown.
    since: Option<Millis>,
    /// Server, webhook, module or limit; null for what waits in a list.
    #[schema(example = "lobby-1")]
    subject: Option<String>,
    /// Name to show for the subject.
    #[schema(example = "lobby-1")]
    name: Option<String>,
    /// Number of reports, appeals, deliveries, dead letters or waiting events, counted up to 1,000; percent of a limit;
    /// else 1.
    #[schema(example = 1)]
    count: i64,
}

impl Item {
    fn new(kind: Kind, severity: Severity, subject: Option<&str>) -> Self {
        let name =
            serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
        let id = subject.map_or_else(|| name.clone(), |subject| format!("{name}/{subject}"));
        let subject = subject.map(str::to_owned);
        Self { id, kind, severity, since: None, name: subject.clone(), subject, count: 1 }
    }

    fn since(self, since: Option<Millis>) -> Self {
        Self { since, ..self }
    }
}

/// All that needs attention and the caller may read: serious things first, of each severity the newest first.
pub(super) async fn list(app: &App, caller: &Caller) -> Result<Vec<Item>, ApiError> {
    let (network, mut items) = (caller.network, vec![]);
    if caller.scopes.allow(Scope::ServersRead) {
        items.extend(offline(app, caller).await?);
    }
    if caller.scopes.allow(Scope::ModulesRead) {
        items.extend(modules::service::skipped(app, network).into_iter().map(|module| {
            let subject = format!("{}/{}", module.point, module.name);
            let name = Some(format!("{} {}", module.name, module.version));
            Item { name, ..Item::new(Kind::ModuleSkipped, Severity::Serious, Some(&subject)) }
        }));
        items.extend(modules::service::lagging(app, network, COUNTED).await?.into_iter().map(|backlog| {
            let item = Item::new(Kind::ModuleLagging, Severity::Warning, Some(&backlog.module));
            Item { count: backlog.events, ..item.since(Some(backlog.since)) }
        }));
    }
    if caller.scopes.allow(Scope::NetworkManage) {
        items.extend(webhooks_in_trouble(app, caller).await?);
        items.extend(plan::uses(app, network).await?.into_iter().filter_map(|one| {
            let percent = if one.value > 0 { one.used.saturating_mul(100) / one.value } else { 0 };
            let item = Item::new(Kind::LimitNearlyUsed, Severity::Warning, Some(one.limit));
            (percent >= NEARLY_USED).then_some(Item { count: percent, ..item })
        }));
    }
    items.extend(waiting(&Waiting::of(app, caller).await?));
    items.sort_by_key(|item| (item.severity, Reverse(item.since)));
    Ok(items)
}

async fn offline(app: &App, caller: &Caller) -> Result<impl Iterator<Item = Item>, ApiError> {
    let since = app.clock.now().saturating_sub(RECENTLY);
    let servers = presence::service::offline_since(app, caller.network, since, OFFLINE_LISTED).await?;
    let item = |(id, last_seen): (Identifier, Millis)| {
        Item::new(Kind::ServerOffline, Severity::Serious, Some(id.as_str())).since(Some(last_seen))
    };
    Ok(servers.into_iter().map(item))
}

async fn webhooks_in_trouble(app: &App, caller: &Caller) -> Result<impl Iterator<Item = Item>, ApiError> {
    let found = webhooks::in_trouble(app, caller.network).await?;
    Ok(found.into_iter().map(|webhook| {
        let (kind, severity) = if webhook.is_disabled {
            (Kind::WebhookDisabled, Severity::Serious)
        } else {
            (Kind::WebhookFailing, Severity::Warning)
        };
        let item = Item::new(kind, severity, Some(&webhook.id));
        Item { name: webhook.name, ..item.since(webhook.since) }
    }))
}

/// Things that wait in lists.
fn waiting(waiting: &Waiting) -> Vec<Item> {
    let mut items = vec![];
    let lists = [
        (Kind::Reports, waiting.reports),
        (Kind::Appeals, waiting.appeals),
        (Kind::HeldDeliveries, waiting.deliveries),
    ];
    for (kind, pile) in lists {
        let Some((count, since)) = pile.filter(|(count, _)| *count > 0) else { continue };
        items.push(Item { count, ..Item::new(kind, Severity::Waiting, None).since(since) });
    }
    for pile in waiting.dead_letters.iter().flatten() {
        let item = Item::new(Kind::DeadLetters, Severity::Warning, Some(&pile.module)).since(pile.at);
        items.push(Item { count: pile.count, ..item });
    }
    items
}
