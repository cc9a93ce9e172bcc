//! What parameters mean that many operations share: told once here, and added where the handler says nothing.

use serde_json::{Value, json};

/// The name of a parameter, a part of the paths it is meant for, and its description. The first that fits is taken.
const DESCRIPTIONS: &[(&str, &str, &str)] = &[
    ("artifactId", "", "The artifact's id, from the answer to its upload or from the list."),
    ("callId", "", "The id of a recorded call, from the list of the latest calls."),
    ("collection", "", "The collection's name."),
    ("commandId", "", "The id of the command, as it was fetched."),
    ("email", "/waitlist", "The address on the waitlist."),
    ("field", "/collections", "An indexed field of the collection's documents."),
    ("gameMode", "/data/", "The game mode that the data belongs to, or `global`."),
    ("gameMode", "", "The game mode whose statistics are wanted; `global` when absent."),
    ("group", "/config", "The group of servers that shares the document."),
    ("groupId", "/permissions", "The id of the permission group."),
    ("id", "/collections", "The document's id in its collection."),
    ("id", "/networks", "The network's id."),
    ("id", "/worlds", "The world's lease: `worldInstanceId` of an opened world, `worldId` of a `WORLD_OPEN` event."),
    ("importId", "", "The import's id, from the answer that started it or from the list."),
    ("invitationId", "", "The invitation's id, from the list of invitations."),
    ("key", "/messages", "The message's key in its namespace."),
    ("keyId", "", "The key's id: the part between the first two underscores of the key."),
    ("limit", "leaderboard", "How many ranks are wanted: 10 when absent, 100 at most."),
    ("limit", "", "How many rows are wanted: 50 when absent, 200 at most."),
    ("locale", "", "The locale, such as `en` or `de_at`."),
    ("name", "/currencies", "The currency's name."),
    ("name", "/modules", "The module's name."),
    ("name", "/plans", "The plan's name."),
    ("name", "/player-name", "The player's name, in any case."),
    ("namespace", "/config", "The document's name in its group."),
    ("namespace", "/data/", "The name that the data is stored under in its game mode."),
    ("namespace", "/messages", "The namespace that the message was registered in."),
    ("offset", "", "How many rows to leave out before the first that is answered."),
    ("ownerKey", "", "Which owner of that type; a player's key is the UUID."),
    ("ownerType", "", "What kind of owner: `player`, or any other such as `guild`."),
    ("page", "", "Which page is wanted, counted from 0."),
    ("personId", "", "The person's id."),
    ("playerUuid", "", "The player's UUID, with hyphens or without."),
    ("point", "/extension-points", "The extension point."),
    ("serverId", "", "The server's id, as it registered."),
    ("serverType", "/provisioning", "The type of server that the bundle is for."),
    ("transferId", "", "The transfer's id, from the answer that started it or from the match before it."),
    ("uuid", "", "The player's UUID, with hyphens or without."),
    ("version", "/modules", "The version's number, counted from 1."),
];

/// Describes the parameters that have no description yet.
pub(super) fn describe_parameters(document: &mut Value) {
    for (path, item) in document.get_mut("paths").and_then(Value::as_object_mut).into_iter().flatten() {
        let operations = item.as_object_mut().into_iter().flatten();
        let parameters = operations.filter_map(|(_, operation)| operation.get_mut("parameters")?.as_array_mut());
        for parameter in parameters.flatten().filter_map(Value::as_object_mut) {
            let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
            let known = DESCRIPTIONS.iter().find(|(of, part, _)| *of == name && path.contains(part));
            if let Some((.., description)) = known
                && parameter.get("description").is_none()
            {
                parameter.insert("description".to_owned(), json!(description));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_described_by_its_name_and_path_unless_its_handler_does() {
        let own = json!({"name": "limit", "description": "Its own."});
        let mut document = json!({"paths": {
            "/api/admin/networks/{id}": {"get": {"parameters": [{"name": "id"}]}},
            "/api/plugin/worlds/{id}/ready": {"post": {"parameters": [{"name": "id"}, own, {"name": "unheard"}]}},
        }});
        describe_parameters(&mut document);
        let of = |path: &str, at: usize| {
            let operation = document["paths"][path].as_object().into_iter().flatten().next();
            operation.map_or(Value::Null, |(_, operation)| operation["parameters"][at]["description"].clone())
        };
        assert_eq!(of("/api/admin/networks/{id}", 0), "The network's id.");
        assert!(of("/api/plugin/worlds/{id}/ready", 0).as_str().is_some_and(|text| text.contains("lease")));
        assert_eq!(of("/api/plugin/worlds/{id}/ready", 1), "Its own.");
        assert_eq!(of("/api/plugin/worlds/{id}/ready", 2), Value::Null);
    }
}
