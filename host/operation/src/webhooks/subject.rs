//! Subjects of events. Deliveries about one subject are sent in order; those about different ones need not be.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::webhooks::model::TEST_EVENT;

/// Hash of the subject of an event: its player, owner, world or server, or else the network. Two subjects with one hash
/// are only ordered more than necessary.
pub(super) fn subject(event: &str, data: &str) -> i64 {
    let data: Value = serde_json::from_str(data).unwrap_or_default();
    let digest = Sha256::digest(name(event, &data));
    let first: [u8; 8] = digest.as_slice().first_chunk().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

fn name(event: &str, data: &Value) -> String {
    let text = |pointer| data.pointer(pointer).and_then(Value::as_str);
    let of = |kind: &str, value: &str| format!("{kind}:{value}");
    if event == TEST_EVENT {
        return TEST_EVENT.to_owned();
    }
    let player = || {
        text("/playerUuid")
            .or(text("/punishment/playerUuid"))
            .or(text("/delivery/playerUuid"))
            .or(text("/report/playerUuid"))
            .map(|uuid| of("player", uuid))
    };
    let by_name = || {
        let name = text("/punishment/playerName").or(text("/delivery/playerName"));
        name.map(|name| of("name", &name.to_lowercase()))
    };
    // Balances of players have the owner type `player`.
    let owner = || Some(of(text("/ownerType")?, text("/ownerKey")?));
    let world = || text("/worldInstanceId").map(|id| of("world", id));
    let server = || text("/server/serverId").map(|id| of("server", id));
    player().or_else(by_name).or_else(owner).or_else(world).or_else(server).unwrap_or_else(|| "network".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_about_one_subject_share_it() {
        let uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
        let of_player = [
            ("CHAT", json!({"playerUuid": uuid, "serverId": "lobby-1"})),
            ("PLAYER_LEFT", json!({"playerUuid": uuid, "serverId": "lobby-2"})),
            ("PUNISHMENT", json!({"punishment": {"playerUuid": uuid, "playerName": "Alex"}})),
            ("BALANCE_CHANGED", json!({"ownerType": "player", "ownerKey": uuid})),
            ("PERMISSIONS_UPDATED", json!({"playerUuid": uuid})),
        ];
        for (event, data) in of_player {
            assert_eq!(name(event, &data), format!("player:{uuid}"), "{event}");
        }
        let others = [
            ("PUNISHMENT", json!({"punishment": {"playerUuid": null, "playerName": "Alex"}}), "name:alex"),
            ("DELIVERY_SETTLED", json!({"delivery": {"playerUuid": null, "playerName": "Alex"}}), "name:alex"),
            ("PUNISHMENT", json!({"punishment": {"ipAddress": "192.0.2.1"}}), "network"),
            ("BALANCE_CHANGED", json!({"ownerType": "farm", "ownerKey": "7"}), "farm:7"),
            ("WORLD_READY", json!({"worldInstanceId": "3", "server": {"serverId": "w-1"}}), "world:3"),
            ("WORLD_STATE", json!({"worldInstanceId": "3", "state": "READY"}), "world:3"),
            ("SERVER_ONLINE", json!({"server": {"serverId": "lobby-1"}}), "server:lobby-1"),
            ("CONFIG_UPDATED", json!({"group": "lobby", "namespace": "board"}), "network"),
            ("PERMISSIONS_UPDATED", json!({"groupId": "vip"}), "network"),
            ("TEST", json!({"webhookId": "x"}), "TEST"),
        ];
        for (event, data, expected) in others {
            assert_eq!(name(event, &data), expected, "{event}");
        }
        // It is stored, so it must never change.
        assert_eq!(subject("CONFIG_UPDATED", "{}"), subject("LOCALIZATION_UPDATED", r#"{"version":1}"#));
        assert_ne!(subject("TEST", "{}"), subject("CONFIG_UPDATED", "{}"));
    }
}
