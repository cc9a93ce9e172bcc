//! Undoing what the audit log has: the inverse change on today's state. Others' later changes of other fields stay; of the
//! same ones they are a conflict, which is shown.

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::post;
use serde_json::{Map, Value, json};

use crate::Console;
use crate::action::{Guard, Verb};
use crate::answer::see_other;
use crate::pages::{hub, network};
use crate::refusal::Refusal;
use crate::visit::Visit;

/// A kind of change that can be undone.
struct Kind {
    action: &'static str,
    /// Parameters of the routes that the entry's target is, separated by slashes.
    target: &'static [&'static str],
    /// Fields of the value, and of the body. A value that is no object is the only one.
    fields: &'static [&'static str],
    verb: Verb,
    route: &'static str,
    /// True if the route deletes what was not there before.
    deletes: bool,
    now: Guard,
}

const fn alone(route: &'static str) -> Guard {
    Guard { route, among: None }
}

const fn among(route: &'static str, field: &'static str, parameter: &'static str) -> Guard {
    Guard { route, among: Some(("items", field, parameter)) }
}

const MESSAGE: &str = "/api/manage/localization/messages/{locale}/{namespace}/{key}";
const MESSAGES: Guard = among(
    "/api/manage/localization/messages?locale={locale}&namespace={namespace}&search={key}&limit=200",
    "key",
    "key",
);
const ROLE: &str = "/api/manage/roles/{name}";
const WEBHOOK: &str = "/api/manage/webhooks/{webhookId}";
const PLAN: &str = "/api/admin/plans/{name}";

static KINDS: &[Kind] = &[
    Kind {
        action: "currency.put",
        target: &["name"],
        fields: &["minimum", "maximum", "startingBalance"],
        verb: Verb::Put,
        route: "/api/manage/economy/currencies/{name}",
        deletes: false,
        now: among("/api/manage/economy/currencies?limit=200", "currencyName", "name"),
    },
    Kind {
        action: "line.put",
        target: &["line"],
        fields: &["paused", "pausedUntil", "maxWaiting"],
        verb: Verb::Put,
        route: "/api/manage/matchmaking/lines/{line}",
        deletes: false,
        now: among("/api/manage/matchmaking/lines?limit=200", "line", "line"),
    },
    Kind {
        action: "message.put",
        target: &["locale", "namespace", "key"],
        fields: &["value"],
        verb: Verb::Put,
        route: MESSAGE,
        deletes: true,
        now: MESSAGES,
    },
    Kind {
        action: "message.deleted",
        target: &["locale", "namespace", "key"],
        fields: &["value"],
        verb: Verb::Put,
        route: MESSAGE,
        deletes: false,
        now: MESSAGES,
    },
    Kind {
        action: "locale.put",
        target: &["locale"],
        fields: &["displayName", "isDefault", "enabled"],
        verb: Verb::Put,
        route: "/api/manage/localization/locales/{locale}",
        deletes: false,
        now: among("/api/manage/localization/locales?limit=200", "locale", "locale"),
    },
    Kind {
        action: "role.put",
        target: &["name"],
        fields: &["scopes"],
        verb: Verb::Put,
        route: ROLE,
        deletes: true,
        now: alone(ROLE),
    },
    Kind {
        action: "role.deleted",
        target: &["name"],
        fields: &["scopes"],
        verb: Verb::Put,
        route: ROLE,
        deletes: false,
        now: alone(ROLE),
    },
    Kind {
        action: "member.changed",
        target: &["personId"],
        fields: &["role"],
        verb: Verb::Patch,
        route: "/api/manage/people/{personId}",
        deletes: false,
        now: among("/api/manage/people?limit=200", "personId", "personId"),
    },
    Kind {
        action: "punishment.changed",
        target: &["id"],
        fields: &["reason", "durationMs", "evidence"],
        verb: Verb::Patch,
        route: "/api/manage/punishments/{id}",
        deletes: false,
        now: alone("/api/manage/punishments/{id}"),
    },
    Kind {
        action: "report.changed",
        target: &["reportId"],
        fields: &["state"],
        verb: Verb::Patch,
        route: "/api/manage/reports/{reportId}",
        deletes: false,
        now: alone("/api/manage/reports/{reportId}"),
    },
    Kind {
        action: "network.changed",
        target: &["id"],
        fields: &["stage", "sessionsRequired", "requireSecondFactor", "chatHistoryDays"],
        verb: Verb::Patch,
        route: "/api/manage/network",
        deletes: false,
        now: alone("/api/manage/network"),
    },
    Kind {
        action: "webhook.changed",
        target: &["webhookId"],
        fields: &["name", "events", "enabled"],
        verb: Verb::Patch,
        route: WEBHOOK,
        deletes: false,
        now: alone(WEBHOOK),
    },
    Kind {
        action: "plan.changed",
        target: &["name"],
        fields: &["limits", "moduleLimits"],
        verb: Verb::Put,
        route: PLAN,
        deletes: false,
        now: alone(PLAN),
    },
];

/// Says of each entry of a page whether it can be undone: plans by the operator alone.
pub(super) fn mark(audit: &mut Value, of_hub: bool) {
    for entry in audit["items"].as_array_mut().into_iter().flatten() {
        entry["undo"] = json!(kind_of(entry, of_hub).is_some());
    }
}

/// The kind of an entry that can be undone.
fn kind_of(entry: &Value, of_hub: bool) -> Option<&'static Kind> {
    let kind = KINDS.iter().find(|kind| entry["action"] == kind.action)?;
    let (before, after) = (kind.values(&entry["before"])?, kind.values(&entry["after"])?);
    let is_there = kind.deletes || kind.verb_of_before(entry).is_some();
    let is_of_page = of_hub == kind.route.starts_with("/api/admin/");
    // The log has no token of a URL, so that the one before is not known.
    let is_known = entry["before"]["url"] == entry["after"]["url"];
    (is_of_page && is_there && is_known && before != after).then_some(kind)
}

impl Kind {
    /// Fields of a value of the log; none if it is too large for the log, or is of another kind.
    fn values(&self, value: &Value) -> Option<Map<String, Value>> {
        match value {
            Value::Null => Some(Map::new()),
            Value::Object(all) => {
                let own: Map<_, _> =
                    self.fields.iter().filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone()))).collect();
                (!own.is_empty()).then_some(own)
            }
            _ => Some([(self.fields[0].to_owned(), value.clone())].into_iter().collect()),
        }
    }

    fn verb_of_before(&self, entry: &Value) -> Option<Method> {
        match &entry["before"] {
            Value::Null if self.deletes => Some(Method::DELETE),
            Value::Null => None,
            _ => Some(self.verb.into()),
        }
    }

    /// Takes the change back.
    async fn undo(&self, visit: &mut Visit, entry: &Value) -> Result<(), Refusal> {
        let target = entry["target"].as_str().unwrap_or_default();
        for (name, value) in self.target.iter().zip(target.splitn(self.target.len(), '/')) {
            visit.params.insert((*name).to_owned(), value.to_owned());
        }
        let (Some(before), Some(after)) = (self.values(&entry["before"]), self.values(&entry["after"])) else {
            return Err(Refusal::not_found());
        };
        let Some(method) = self.verb_of_before(entry) else { return Err(Refusal::not_found()) };
        let (now, revision) = self.now.read_with_revision(visit).await?;
        // The override of a message is the log's value.
        let now = if self.fields == ["value"] { json!({"value": now["override"]}) } else { now };
        let changed = |name: &&&str| before.get(**name) != after.get(**name);
        let conflicts: Vec<_> = self
            .fields
            .iter()
            .filter(changed)
            .filter(|name| after.get(**name).unwrap_or(&Value::Null) != &now[**name])
            .map(|name| json!({"field": name, "before": before.get(*name), "theirs": now[*name], "yours": after.get(*name)}))
            .collect();
        if !conflicts.is_empty() && visit.form.get("force").is_none() {
            visit.result = json!({"conflict": conflicts, "entry": entry});
            let message = "This was changed again since. Undoing it would overwrite that, too.";
            return Err(Refusal::new("revision_changed", message, StatusCode::CONFLICT));
        }
        if method == Method::DELETE {
            return visit.send_from(method, self.route, None, revision.as_deref()).await.map(drop);
        }
        let is_whole = method == Method::PUT;
        let body: Map<_, _> = self
            .fields
            .iter()
            .filter_map(|name| match before.get(*name) {
                Some(value) if changed(&name) => Some(((*name).to_owned(), value.clone())),
                // The other fields stay as they are now.
                _ if is_whole && now.get(*name).is_some() => Some(((*name).to_owned(), now[*name].clone())),
                _ => None,
            })
            .collect();
        // Between this look and the change the revision decides.
        visit.send_from(method, self.route, Some(&Value::Object(body)), revision.as_deref()).await.map(drop)
    }
}

pub(crate) fn router() -> Router<Console> {
    Router::new().route("/console/n/{network}/audit/undo", post(undo)).route("/console/hub/audit/undo", post(undo))
}

async fn undo(mut visit: Visit) -> Response {
    let of_hub = !visit.params.contains_key("network");
    let page = if of_hub { "/console/hub/audit" } else { "/console/n/{network}/audit" };
    let done = match visit.enter().await {
        Ok(()) => take_back(&mut visit, of_hub).await,
        Err(refusal) => Err(refusal),
    };
    match done {
        Ok(()) => see_other(&visit.fill(&format!("{page}?done=Undone"), &[]), &[]),
        Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => visit.refused(&refusal).await,
        Err(refusal) => {
            visit.problem = Some(refusal);
            let data = if of_hub { hub::audit(&visit).await } else { network::audit(&visit).await };
            match data {
                Ok(data) => visit.render("audit.html", data),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
    }
}

async fn take_back(visit: &mut Visit, of_hub: bool) -> Result<(), Refusal> {
    let entry: Value = visit.form.get("entry").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let kind = kind_of(&entry, of_hub).ok_or_else(Refusal::not_found)?;
    kind.undo(visit, &entry).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_an_inverse_can_be_undone() {
        let can = |action: &str, before: Value, after: Value| {
            kind_of(&json!({"action": action, "before": before, "after": after}), false).is_some()
        };
        assert!(can("currency.put", json!({"minimum": 0}), json!({"minimum": 5})));
        assert!(!can("currency.put", Value::Null, json!({"minimum": 5})), "no route deletes a currency");
        assert!(can("message.put", Value::Null, json!("Hello")) && can("message.deleted", json!("Hello"), Value::Null));
        assert!(can("network.changed", json!({"stage": "LIVE"}), json!({"stage": "TEST"})));
        assert!(!can("network.changed", json!({"plan": "a"}), json!({"plan": "b"})), "the operator's");
        assert!(!can("role.put", json!({"omittedBytes": 5000}), json!({"scopes": []})));
        assert!(!can("plan.changed", json!({"limits": {}}), json!({"limits": {"keys": 1}})), "of another page");
        assert!(!can("key.created", Value::Null, json!({})));
        let webhook = |name: &str, url: &str| json!({"kind": "WEBHOOK", "name": name, "url": url, "enabled": true});
        assert!(can("webhook.changed", webhook("a", "https://a"), webhook("b", "https://a")));
        assert!(!can("webhook.changed", webhook("a", "https://a"), webhook("b", "https://b")), "half of a change");
    }
}
