//! Options that mean the same for all nodes: a network that moves must not change its behaviour.
//!
//! While nodes disagree, those of the smaller part are not ready; of two equal parts, the one that came later. So an
//! option can be changed by restarting one node after the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use parking_lot::Mutex;
use serde_json::json;

use crate::cluster::store::NodeRow;
use crate::config::Settings;
use crate::fault::{Fault, FaultKind};

/// Values by option, as people write it; none of them is a secret.
type Options = BTreeMap<String, String>;

/// This node's options, compared with those of the others.
#[derive(Debug, Default)]
pub(super) struct SharedOptions(Mutex<Option<Fault>>);

/// This node's options as JSON.
pub(super) fn of(settings: &Settings) -> String {
    json!({
        "--engines": settings.engines.join(","),
        "--geo-routing": format!("{:?}", settings.geo_routing),
        "--lease": settings.lease.to_string(),
        "--offline-after": settings.offline_after.to_string(),
        "--oidc-client-id": settings.oidc_client_id.as_deref().unwrap_or_default(),
        "--oidc-issuer": settings.oidc_issuer.as_deref().unwrap_or_default(),
        "--public-url": settings.public_url.as_deref().unwrap_or_default(),
        "[limits]": format!("{:?}", settings.limits),
    })
    .to_string()
}

impl SharedOptions {
    /// Compares with the other nodes that are alive, of which `elders` were there before this one.
    pub(super) fn compare(&self, own: &str, live: &[&NodeRow], elders: &HashSet<String>) {
        *self.0.lock() = difference(own, live, elders);
    }

    /// The fault, while nodes disagree.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.0.lock().clone()
    }
}

fn difference(own: &str, live: &[&NodeRow], elders: &HashSet<String>) -> Option<Fault> {
    let own = live.iter().find(|row| row.node == own)?;
    let mut parts = HashMap::<&str, Vec<&NodeRow>>::new();
    for row in live {
        parts.entry(&row.options).or_default().push(row);
    }
    let mine = parts.remove(own.options.as_str())?;
    let other = parts.values().max_by_key(|part| (part.len(), has_elder(part, elders)))?;
    let names = differing(&own.options, &other.first()?.options);
    let message = format!("Nodes of this hub have different values of {names}; give all of them the same.");
    let gives_way = other.len() > mine.len() || (other.len() == mine.len() && has_elder(other, elders));
    let fault = if gives_way { Fault::disabling } else { Fault::tolerable };
    Some(fault(FaultKind::Cluster, message))
}

fn has_elder(part: &[&NodeRow], elders: &HashSet<String>) -> bool {
    part.iter().any(|row| elders.contains(&row.node))
}

/// Options with different values.
fn differing(one: &str, other: &str) -> String {
    let [one, other] = [one, other].map(|text| serde_json::from_str::<Options>(text).unwrap_or_default());
    let mut names: Vec<_> = one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name)).collect();
    names.sort();
    names.dedup();
    names.into_iter().cloned().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::store::Fitness;

    fn row(name: &str, lease: &str) -> NodeRow {
        let fitness = Fitness { reaches_bus: true, is_clock_right: true };
        let options = json!({"--lease": lease, "--engines": "MINECRAFT"}).to_string();
        NodeRow { node: name.into(), url: "u".into(), fitness, reached: "[]".into(), options, silent: 0 }
    }

    #[test]
    fn the_smaller_and_then_the_later_part_is_not_ready() {
        let is_disabling = |rows: &[NodeRow], elders: &[&str]| {
            let elders = elders.iter().map(|name| (*name).to_owned()).collect();
            let fault = difference("own", &rows.iter().collect::<Vec<_>>(), &elders);
            fault.map(|fault| {
                assert!(fault.message.contains(" of --lease;"), "{}", fault.message);
                fault.is_disabling
            })
        };
        assert_eq!(is_disabling(&[row("own", "1"), row("a", "1")], &["a"]), None);
        assert_eq!(is_disabling(&[row("own", "1"), row("a", "2")], &["a"]), Some(true));
        assert_eq!(is_disabling(&[row("own", "1"), row("a", "2")], &[]), Some(false));
        assert_eq!(is_disabling(&[row("own", "1"), row("a", "2"), row("b", "1")], &["a"]), Some(false));
        assert_eq!(is_disabling(&[row("own", "1"), row("a", "2"), row("b", "2")], &[]), Some(true));
    }
}
