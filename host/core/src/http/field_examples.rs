//! Examples of single fields, if a field of the same name has another example elsewhere, or if the examples of all
//! fields do not fit together.

use serde_json::{Value, json};

use crate::http::publication::operations_mut;

/// Removes the example from the schema of a parameter that has its own.
pub(super) fn keep_one_example(document: &mut Value) {
    for operation in operations_mut(document) {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten().filter(|parameter| parameter.get("example").is_some()) {
            if let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) {
                schema.remove("examples");
            }
        }
    }
}

/// Sets the examples of fields without a suitable one.
pub(super) fn set_field_examples(document: &mut Value) {
    for (schema, field, example) in field_examples() {
        let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
        let property =
            schemas.and_then(|it| it.get_mut(schema)?.get_mut("properties")?.get_mut(field)?.as_object_mut());
        if let Some(property) = property {
            property.remove("examples");
            property.insert("example".to_owned(), example);
        }
    }
}

/// Schema, field and example.
fn field_examples() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("AppealRuling", "answer", json!("Welcome back.")),
        ("ApiKeyRequest", "name", json!("lobby servers")),
        ("BalanceModification", "reason", json!("quest reward")),
        ("BalanceTransaction", "reason", json!("quest reward")),
        ("ChainWarning", "message", json!("It failed its trial call: the configuration lacks `words`.")),
        ("CollectionDefinition", "key", json!("id")),
        ("CollectionIndex", "type", json!("number")),
        ("CommandResult", "error", json!(null)),
        ("ConsoleCommandReport", "error", json!(null)),
        ("ConsoleCommandReport", "success", json!(true)),
        ("ConsoleCommandResult", "error", json!(null)),
        ("ConsoleCommandResult", "success", json!(true)),
        ("FirstOperator", "name", json!("Alex")),
        ("HeartbeatPlayer", "name", json!("Notch")),
        ("InvitationAcceptance", "name", json!("Alex")),
        ("LocaleSettings", "displayName", json!("Deutsch")),
        ("Match", "errorMessage", json!(null)),
        ("Match", "success", json!(true)),
        ("Module", "reason", json!(null)),
        ("ModuleFailure", "message", json!("The module used all of its fuel.")),
        ("ModuleLogLine", "message", json!("nobody is near, sent to EUROPE")),
        ("ModuleOutputLine", "message", json!("nobody is near, sent to EUROPE")),
        ("NewApiKey", "name", json!("lobby servers")),
        ("NewAppeal", "contact", json!("steve@example.org")),
        ("NewAppeal", "text", json!("It was my brother.")),
        ("NewStaffNote", "text", json!("Second chance after an apology.")),
        ("PermissionGroupUpdate", "displayName", json!("VIP")),
        ("PluginReport", "enabled", json!(true)),
        ("PluginReport", "name", json!("BedWars")),
        ("PluginReport", "version", json!("2.3.0")),
        ("Punishment", "active", json!(true)),
        ("ReportChanges", "resolution", json!("Muted for a day")),
        ("RegisteredCollection", "key", json!("id")),
        ("SnapshotRequest", "reason", json!("BOSS_DEFEATED")),
        ("StatisticIncrement", "name", json!("kills")),
        ("TicketRequest", "affinityGameId", json!(null)),
        ("TicketRequest", "affinityOwnerId", json!(null)),
        ("TicketRequest", "affinityOwnerScope", json!(null)),
        ("TransferOutcome", "errorMessage", json!(null)),
        ("TransferOutcome", "success", json!(true)),
        ("TransferReport", "errorMessage", json!(null)),
        ("WebhookChange", "enabled", json!(true)),
        ("WebhookChange", "name", json!("ban feed")),
        ("WebhookCreation", "name", json!("ban feed")),
        ("WaitingLineSettings", "pausedUntil", json!(null)),
        ("WorldHeartbeat", "blobKey", json!(null)),
        ("WorldHeartbeat", "sizeBytes", json!(null)),
    ]
}
