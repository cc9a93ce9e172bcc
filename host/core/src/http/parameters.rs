//! Descriptions of parameters shared by many operations, added if the handler has none.

use serde_json::{Value, json};

/// Name of a parameter, part of the paths it applies to, and description. The first match is used.
const DESCRIPTIONS: &[(&str, &str, &str)] = &[
    ("artifactId", "", "Artifact id, from its upload or the list."),
    ("callId", "", "Id of a recorded call, from the list of the latest calls."),
    ("collection", "", "Collection name."),
    ("commandId", "", "Id of the fetched command."),
    ("deadLetterId", "", "Dead letter id, from the list of dead letters."),
    ("email", "/waitlist", "E-mail address on the waitlist."),
    ("field", "/collections", "Indexed field of the collection's documents."),
    ("gameMode", "/data/", "Game mode of the data, or `global`."),
    ("gameMode", "", "Game mode of the statistics (default `global`)."),
    ("group", "/config", "Group of servers that share the document."),
    ("groupId", "/permissions", "Permission group id."),
    ("id", "/audit", "Entry id, from the log."),
    ("id", "/collections", "Document id in its collection."),
    ("id", "/networks", "Network id."),
    ("id", "/worlds", "World lease id: `worldInstanceId` of an opened world, `worldId` of a `WORLD_OPEN` event."),
    ("importId", "", "Import id, from its start or the list."),
    ("invitationId", "", "Invitation id, from the list of invitations."),
    ("key", "/messages", "Key of the message in its namespace."),
    ("key", "/timers", "Key of the timer."),
    ("keyId", "", "API key id: the part between the first two underscores of the key."),
    ("limit", "leaderboard", "Maximum number of ranks (default 10, at most 100)."),
    ("limit", "", "Maximum number of rows (default 50, at most 200)."),
    ("locale", "", "Locale, for example `en` or `de_at`."),
    ("name", "/currencies", "Currency name."),
    ("name", "/kept", "Module name."),
    ("name", "/modules", "Module name."),
    ("name", "/plans", "Plan name."),
    ("name", "/player-name", "Player name, case-insensitive."),
    ("name", "/secrets", "Name of the secret, as the manifests of modules have it."),
    ("namespace", "/config", "Document name in its group."),
    ("namespace", "/data/", "Name of the data in its game mode."),
    ("namespace", "/messages", "Namespace of the message."),
    ("offset", "", "Number of rows to skip."),
    ("ownerKey", "", "Key of the owner; for a player, the UUID."),
    ("ownerType", "", "Type of owner: `player`, or any other such as `guild`."),
    ("page", "", "Page number, from 0."),
    ("personId", "", "Person id."),
    ("playerUuid", "", "Player UUID, with or without hyphens."),
    ("point", "/extension-points", "Extension point."),
    ("revision", "/revisions", "Revision of the chain, from the list of its revisions."),
    ("schedule", "/schedules", "Name of the schedule, as the manifest of the module has it."),
    ("serverId", "", "Server id, as registered."),
    ("serverType", "/provisioning", "Server type of the bundle."),
    ("transferId", "", "Transfer id, from its start or from the preceding match."),
    ("uuid", "", "Player UUID, with or without hyphens."),
    ("version", "/modules", "Version number, from 1."),
];

/// Describes parameters without a description.
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
        assert_eq!(of("/api/admin/networks/{id}", 0), "Network id.");
        assert!(of("/api/plugin/worlds/{id}/ready", 0).as_str().is_some_and(|text| text.contains("lease")));
        assert_eq!(of("/api/plugin/worlds/{id}/ready", 1), "Its own.");
        assert_eq!(of("/api/plugin/worlds/{id}/ready", 2), Value::Null);
    }
}
