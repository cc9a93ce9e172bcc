//! Chains that two people changed: before, theirs and yours side by side.

use serde_json::{Map, Value, json};

/// The chains before, theirs and yours side by side, link by link, with a row for their order.
pub(super) fn conflict(chains: &[Vec<Value>; 3]) -> Vec<Value> {
    let by_name = chains.each_ref().map(|chain| {
        let mut named = Map::new();
        for link in chain {
            let name = link["name"].as_str().unwrap_or_default();
            // A name may be twice in a chain: as what decides, and as its canary or shadow.
            let rest = named.keys().filter(|known| known.split(' ').next() == Some(name)).count();
            let key = if rest == 0 { name.to_owned() } else { format!("{name} ({})", rest + 1) };
            named.insert(key, json!(shown(link)));
        }
        named
    });
    let order = by_name.each_ref().map(|chain| chain.keys().cloned().collect::<Vec<_>>().join(", "));
    let mut rows = vec![];
    if order[0] != order[1] {
        rows.push(json!({"field": "order", "before": order[0], "theirs": order[1], "yours": order[2]}));
    }
    let mut names: Vec<_> = by_name.iter().flat_map(Map::keys).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let [before, theirs, yours] = by_name.each_ref().map(|chain| chain.get(name));
        if before != theirs || before != yours {
            rows.push(json!({"field": name, "before": before, "theirs": theirs, "yours": yours}));
        }
    }
    rows
}

/// A link in a line: its version, mode, share and configuration.
pub(super) fn shown(link: &Value) -> String {
    let mode = link["mode"].as_str().unwrap_or("ACTIVE").to_lowercase();
    let share = if mode == "canary" { format!(" {} %", link["percent"]) } else { String::new() };
    let config = if link["config"].as_object().is_none_or(Map::is_empty) {
        String::new()
    } else {
        format!(" {}", link["config"])
    };
    format!("{} {mode}{share}{config}", link["version"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_has_a_row_for_what_either_changed() {
        let link = |name: &str, version: i64, mode: &str| json!({"name": name, "version": version, "mode": mode, "percent": 10, "config": {}});
        let before = vec![link("a", 1, "ACTIVE"), link("b", 1, "ACTIVE"), link("c", 1, "ACTIVE")];
        let theirs = vec![link("a", 2, "ACTIVE"), link("b", 1, "ACTIVE"), link("c", 1, "ACTIVE")];
        let yours =
            vec![link("a", 1, "ACTIVE"), link("b", 1, "ACTIVE"), link("c", 1, "ACTIVE"), link("a", 3, "CANARY")];
        let rows = conflict(&[before, theirs, yours]);
        assert_eq!(
            rows,
            [
                json!({"field": "a", "before": "1 active", "theirs": "2 active", "yours": "1 active"}),
                json!({"field": "a (2)", "before": null, "theirs": null, "yours": "3 canary 10 %"}),
            ]
        );
    }
}
