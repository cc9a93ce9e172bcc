//! Changes of all links of a module at once.

use serde_json::{Map, Value};

use crate::cli::client::HubClient;
use crate::cli::module::chain::{LinkSettings, link_summary, print_warnings};
use crate::cli::module::format;

/// Fields that each link has of its own.
const OWN: [&str; 5] = ["mode", "percent", "onFailure", "instances", "limits"];
/// Points whose modules answer with effects, and have grants.
pub(super) const WITH_EFFECTS: [&str; 3] = ["events", "endpoints", "schedules"];

/// Path of a module's activation.
pub(super) fn path(name: &str) -> String {
    format!("/api/manage/modules/{name}/activation")
}

/// Activates a version at these points, or at all that it serves. Settings that are not given stay.
pub(super) async fn put(
    hub: &HubClient,
    name: &str,
    version: i64,
    points: &[String],
    settings: &LinkSettings,
) -> anyhow::Result<Value> {
    let mut points = points.to_vec();
    if points.is_empty() {
        let module = hub.get(&format!("/api/manage/modules/{name}/{version}")).await?;
        let served = module["points"].as_array().into_iter().flatten();
        points = served.filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let active = hub.get(&path(name)).await?;
    let body = activation(version, &points, active["links"].as_array().map_or(&[][..], Vec::as_slice), settings);
    let forced = if settings.force { "?force=true" } else { "" };
    Ok(hub.put(&format!("{}{forced}", path(name)), &body).await?)
}

/// Takes a module out of all chains. Returns what is left of its activation.
pub(super) async fn end(hub: &HubClient, name: &str) -> anyhow::Result<Value> {
    hub.delete(&path(name)).await?;
    Ok(hub.get(&path(name)).await?)
}

fn activation(version: i64, points: &[String], links: &[Value], settings: &LinkSettings) -> Value {
    // The one that decides, if there are several.
    let at = |point: &str| {
        let of_point = || links.iter().filter(|link| link["point"] == point);
        of_point().find(|link| link["mode"] == "ACTIVE").or_else(|| of_point().next())
    };
    let mut body = Map::from_iter([("version".to_owned(), version.into())]);
    let has_effects = points.iter().any(|point| WITH_EFFECTS.contains(&point.as_str()));
    for shared in ["config", "grants"] {
        let may_stay = shared == "config" || has_effects;
        let now = || links.iter().find_map(|link| link.get(shared).cloned()).filter(|_| may_stay);
        let value = settings.members.get(shared).cloned().or_else(now);
        body.extend(value.map(|value| (shared.to_owned(), value)));
    }
    let own = |point: &String| {
        let mut link = Map::new();
        for field in OWN {
            // A share is given with its mode.
            let now = || at(point).and_then(|link| link.get(field)).filter(|_| field != "percent").cloned();
            let value = settings.members.get(field).cloned().or_else(now);
            link.extend(value.map(|value| (field.to_owned(), value)));
        }
        (point.clone(), Value::Object(link))
    };
    body.insert("points".to_owned(), points.iter().map(own).collect::<Map<_, _>>().into());
    Value::Object(body)
}

/// Prints an activation and the hub's warnings.
pub(super) fn print(activation: &Value, json: bool) {
    if json {
        print_json!(activation);
    } else {
        let links = activation["links"].as_array().map_or(&[][..], Vec::as_slice);
        for link in links {
            println!("{}: {}", format::text(link, "point"), link_summary(link));
        }
        if links.is_empty() {
            println!("{} is in no chain", format::text(activation, "name"));
        }
    }
    print_warnings(activation);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::module::chain::tests::active;

    #[test]
    fn what_is_not_given_stays() {
        let links = [
            json!({"point": "chat", "mode": "SHADOW", "config": {"a": 1}, "onFailure": "SKIP", "percent": 100}),
            json!({"point": "chat", "mode": "ACTIVE", "config": {"a": 1}, "onFailure": "REFUSE", "percent": 100}),
            json!({"point": "events", "mode": "ACTIVE", "config": {"a": 1}, "grants": {"scopes": []},
                "limits": {"fuel": 1}}),
        ];
        let points = ["chat", "events", "schedules"].map(str::to_owned);
        let kept = activation(2, &points, &links, &active(json!({"instances": "REUSED"})));
        let own = |more: Value| {
            let mut link = json!({"mode": "ACTIVE", "instances": "REUSED"});
            link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            link
        };
        assert_eq!(
            kept,
            json!({"version": 2, "config": {"a": 1}, "grants": {"scopes": []}, "points": {
                "chat": own(json!({"onFailure": "REFUSE"})), "events": own(json!({"limits": {"fuel": 1}})),
                "schedules": own(json!({}))}})
        );
        let given = active(json!({"config": {"b": 2}, "grants": {"scopes": ["events:read"]}}));
        let changed = activation(2, &points[1..2], &links, &given);
        assert_eq!((&changed["config"], &changed["grants"]["scopes"][0]), (&json!({"b": 2}), &json!("events:read")));
        // No point has grants.
        assert_eq!(activation(2, &points[..1], &links, &active(json!({}))).get("grants"), None);
    }
}
