//! Subjects of events: the player and the server, and the key by which events are ordered.

use hub_sandbox::manifest::Order;
use serde_json::Value;

use crate::values::PlayerId;

const NETWORK: &str = "network";
/// Fields that no module gets: with them an appeal can be written, or a player located.
const WITHHELD: [&str; 4] = ["appealCode", "address", "ip", "ipAddress"];

/// Subject of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) player: Option<PlayerId>,
    pub(super) player_name: Option<String>,
    pub(super) server: Option<String>,
    /// Owner, as type and key; or the key that a module gave.
    other: Option<String>,
    /// True if `other` comes before all else.
    is_keyed: bool,
}

impl Subject {
    /// Subject of an event with these fields.
    pub(super) fn of(name: &str, data: &Value) -> Self {
        let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| text(pointer));
        if name == "MODULE_EVENT" {
            return Self {
                other: Some(text("/key").unwrap_or_else(|| NETWORK.to_owned())),
                is_keyed: true,
                ..Self::default()
            };
        }
        let owner = text("/ownerType").zip(text("/ownerKey"));
        let of_owner = owner.as_ref().filter(|(kind, _)| kind == "player").map(|(_, key)| key.clone());
        let player = of_owner.or_else(|| {
            first(&[
                "/playerUuid",
                "/punishment/playerUuid",
                "/delivery/playerUuid",
                "/report/playerUuid",
                "/appeal/playerUuid",
                "/event/playerUuid",
            ])
        });
        Self {
            player: player.and_then(|player| player.parse().ok()),
            player_name: first(&[
                "/playerName",
                "/punishment/playerName",
                "/delivery/playerName",
                "/report/playerName",
                "/appeal/playerName",
            ]),
            server: first(&["/serverId", "/server/serverId", "/report/serverId", "/targetServerId"]),
            other: owner.map(|(kind, key)| format!("{kind}:{key}")),
            is_keyed: false,
        }
    }

    /// Key of the order. `server` is the event's, or that of its player.
    pub(super) fn key(&self, order: Order, server: Option<&str>) -> String {
        match order {
            Order::Network => NETWORK.to_owned(),
            Order::Server => server.unwrap_or(NETWORK).to_owned(),
            Order::Player => self.player_key(),
        }
    }

    fn player_key(&self) -> String {
        if let Some(key) = self.other.as_ref().filter(|_| self.is_keyed) {
            return key.clone();
        }
        if let Some(player) = self.player {
            return player.to_string();
        }
        let name = self.player_name.as_ref().map(|name| format!("name:{}", name.to_lowercase()));
        let server = || self.server.as_ref().map(|server| format!("server:{server}"));
        name.or_else(|| self.other.clone()).or_else(server).unwrap_or_else(|| NETWORK.to_owned())
    }
}

/// Removes the fields that no module gets. False if there is none.
pub(super) fn withhold(data: &mut Value) -> bool {
    match data {
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|name, _| !WITHHELD.contains(&name.as_str()));
            let is_shorter = fields.len() < before;
            withhold_all(fields.values_mut()) || is_shorter
        }
        Value::Array(items) => withhold_all(items.iter_mut()),
        _ => false,
    }
}

fn withhold_all<'a>(values: impl Iterator<Item = &'a mut Value>) -> bool {
    let mut has_changed = false;
    for value in values {
        has_changed |= withhold(value);
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOTCH: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

    #[test]
    fn keys_are_those_of_the_table() {
        for (name, data, player, server) in [
            ("CHAT", json!({"playerUuid": NOTCH, "serverId": "lobby-1"}), NOTCH, "lobby-1"),
            ("PUNISHMENT", json!({"punishment": {"playerUuid": NOTCH}}), NOTCH, "network"),
            ("PUNISHMENT", json!({"punishment": {"playerName": "Alex"}}), "name:alex", "network"),
            ("BALANCE_CHANGED", json!({"ownerType": "player", "ownerKey": NOTCH}), NOTCH, "network"),
            ("BALANCE_CHANGED", json!({"ownerType": "farm", "ownerKey": "7"}), "farm:7", "network"),
            ("SERVER_ONLINE", json!({"server": {"serverId": "lobby-1"}}), "server:lobby-1", "lobby-1"),
            ("REPORT_CREATED", json!({"report": {"playerUuid": NOTCH, "serverId": "a"}}), NOTCH, "a"),
            ("CONFIG_UPDATED", json!({"group": "lobby"}), "network", "network"),
            ("MODULE_EVENT", json!({"key": "k", "payload": {}}), "k", "network"),
            ("MODULE_EVENT", json!({"key": null, "payload": {}}), "network", "network"),
        ] {
            let subject = Subject::of(name, &data);
            assert_eq!(subject.key(Order::Player, None), player, "{name}");
            assert_eq!(subject.key(Order::Server, subject.server.as_deref()), server, "{name}");
            assert_eq!(subject.key(Order::Network, None), "network");
        }
    }

    #[test]
    fn addresses_and_appeal_codes_are_withheld() {
        let mut data = json!({"punishment": {"appealCode": "A", "ipAddress": "192.0.2.1", "id": 1}});
        assert!(withhold(&mut data) && data == json!({"punishment": {"id": 1}}));
        assert!(!withhold(&mut data));
    }
}
