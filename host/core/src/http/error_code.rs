//! All error codes, for the API document. A test finds codes in the source that are missing here.

use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Codes with their meanings.
pub const ERROR_CODES: &[(&str, &str)] = &[
    // Any request.
    ("invalid_request", "The syntax or a value of the request is invalid; see the message."),
    ("unauthenticated", "The key is missing, malformed, unknown, expired or revoked."),
    ("forbidden_scope", "The key lacks the scope required by the route."),
    ("forbidden_origin", "The key is bound to other servers or addresses."),
    ("network_suspended", "The network is suspended, or will be deleted."),
    ("quota_exceeded", "The network has reached the limit named in `limit`."),
    ("rate_limited", "Too many requests; retry after `Retry-After` seconds."),
    ("unknown_route", "There is no such route."),
    ("method_not_allowed", "The route exists, but not with this method."),
    ("request_timeout", "The request was not received in time."),
    ("body_too_large", "The body exceeds the route's size limit."),
    ("empty_body", "The body is empty; a file is required."),
    ("answer_too_large", "The response would exceed 4 MiB; request less."),
    ("answers_unread", "Too many large responses to this network are unread; try again."),
    ("idempotency_mismatch", "The `Idempotency-Key` was used for another path or body."),
    (
        "answer_not_kept",
        "The request took effect when it was first sent; its response is not available to this caller.",
    ),
    ("invalid_cursor", "The cursor was not returned by this route."),
    ("internal", "Internal error; the operator can find the cause in the log by the request id."),
    // Temporary failures.
    ("stopping", "The hub is stopping; try again."),
    ("bus_unreachable", "Events are currently unavailable; try again."),
    ("database_timeout", "The request exceeded the database's time limit and had no effect; try again."),
    ("database_unavailable", "The database is unreachable or overloaded; try again."),
    ("no_home", "No node of the hub serves the network yet; try again."),
    ("moved", "The network moved to another node of the hub; try again."),
    ("node_lost", "The node that served the request failed; the request may or may not have taken effect."),
    ("too_many_connections", "Too many open connections to the hub or from the caller's address."),
    ("storage_full", "The hub's storage for files is full."),
    // Servers and their agents.
    ("unknown_server", "Unknown server; after a heartbeat, register the server again."),
    ("player_not_on_server", "The player is not on that server."),
    ("server_offline", "The server is offline."),
    ("not_connected", "The server's event stream, or its agent, is not connected."),
    ("no_node", "No node agent is connected for the server."),
    ("no_answer", "The server or its agent did not answer in time."),
    ("no_output", "The agent did not deliver the output in time."),
    ("unknown_transfer", "No such transfer."),
    // Players and their money.
    ("unknown_player", "The network has never seen the player."),
    ("unknown_namespace", "The player has no data in the namespace."),
    ("version_conflict", "Another write came first; read again and retry."),
    ("insufficient_funds", "An exact change would leave less than the currency's minimum; nothing was changed."),
    ("over_maximum", "An exact change would leave more than the currency's maximum; nothing was changed."),
    // Punishments, permissions, chat.
    ("unknown_punishment", "No such punishment."),
    ("punishment_rejected", "The network's modules refused the punishment."),
    ("unknown_group", "The network has no such permission group."),
    ("chat_rejected", "The network's chat filter refused the message."),
    // Localization, configuration, collections.
    ("unknown_override", "The operator has not changed this message."),
    ("default_locale_needed", "A network needs a default locale: make another locale the default instead."),
    ("default_locale_disabled", "The default locale must be enabled."),
    ("unknown_config", "No such config document."),
    ("unknown_collection", "No such collection."),
    ("unknown_document", "No such document."),
    ("field_not_indexed", "The field has no index."),
    ("wrong_index_type", "The field's index does not support ranges."),
    ("index_building", "The index is not built yet; try again."),
    ("index_type_changed", "The field is indexed with another type."),
    ("index_value_too_long", "A value is too long for an index."),
    ("key_mismatch", "The document's key field differs from the id in the path."),
    ("key_changed", "The collection is registered with another key."),
    // Imports from other tools.
    ("unknown_import", "No such import."),
    ("import_running", "Another import of the network is running."),
    // Webhooks.
    ("unknown_webhook", "No such webhook."),
    ("unknown_delivery", "No such delivery, or it was deleted."),
    ("webhook_disabled", "The webhook is disabled, so nothing is sent to it."),
    ("delivery_waiting", "The delivery is still waiting."),
    // Worlds.
    ("unknown_world", "No such world lease in the network."),
    ("lease_ended", "The lease has ended; another node may have the world."),
    ("stale_fence", "The lease has another fence."),
    ("wrong_node", "The lease belongs to another node."),
    ("world_not_ready", "The world is not up yet."),
    ("not_persistent", "The world is EPHEMERAL and has no snapshots."),
    ("unknown_snapshot", "No such snapshot, or it belongs to another lease."),
    ("snapshot_missing", "The snapshot was not uploaded yet."),
    ("no_public_url", "Links require the hub's public URL; the operator must set `--public-url`."),
    // Links and files.
    ("invalid_link", "The link is malformed or has an invalid signature."),
    ("invalid_signature", "The link is malformed or has an invalid signature."),
    ("link_expired", "The link has expired."),
    ("unknown_artifact", "No such artifact."),
    ("version_exists", "This version has other bytes; a version never changes."),
    ("unknown_bundle", "No bundle for this server type."),
    // Modules.
    ("invalid_module", "The file is not a valid module; see the message."),
    ("unknown_module", "No such module or version."),
    ("module_not_ready", "The module is not compiled yet, or was rejected."),
    ("failed_trial", "The module's trial call with this configuration failed; see the message."),
    ("module_in_use", "The version is part of a chain."),
    ("unknown_point", "No such extension point."),
    ("point_not_offered", "The module does not export this extension point."),
    ("nothing_to_roll_back", "The extension point has no previous chain."),
    ("unknown_call", "No such recorded call."),
    // Keys, networks and the operator.
    ("unknown_key", "No such API key."),
    ("operator_scope", "Only keys of the operator can have the scope `operator`."),
    ("unknown_network", "No such network."),
    ("network_being_deleted", "The network is being deleted."),
    ("name_taken", "The name is already in use."),
    ("unknown_plan", "No such plan."),
    ("plan_in_use", "The plan is in use by networks, or is the default."),
    // People.
    ("wrong_credentials", "Wrong address, password or code."),
    ("second_factor_needed", "The password is correct; a second factor code is also required."),
    ("csrf_token_wrong", "Changes by session cookie require the right `X-CSRF-Token`."),
    ("not_a_member", "The person is not a member of the network."),
    ("network_needed", "The person is a member of several networks: select one with `X-Network-Id`."),
    ("unknown_person", "No such person."),
    ("unknown_invitation", "No such invitation."),
    ("person_exists", "An account with this address exists: sign in and join."),
    ("already_member", "A member with this address already exists."),
    ("invited_lately", "This address was recently invited; try again in ten minutes."),
    ("second_factor_missing", "No second factor waits for confirmation."),
    ("second_factor_enabled", "A second factor is already enabled; disable it first."),
    ("no_password", "The account has no password: it signs in by OpenID Connect."),
    ("openid_not_set_up", "No OpenID provider is configured."),
    ("openid_unavailable", "The OpenID provider is unreachable or returned an invalid response; try again."),
    ("openid_sign_in_ended", "The sign-in began in another browser, has already ended, or took too long."),
    ("openid_state_wrong", "The provider's response belongs to another sign-in."),
    ("openid_refused", "The provider refused the sign-in; see the message."),
    ("openid_code_refused", "The provider reports the code as used or expired."),
    ("openid_token_invalid", "The provider's ID token is not valid for this sign-in; see the message."),
    ("openid_email_unverified", "The provider has not verified the person's address."),
    ("openid_subject_differs", "The account with this address belongs to another person at the provider."),
    ("not_invited", "No account with this address, and no invitation was given."),
    // Waitlist.
    ("unknown_token", "The link is invalid."),
    ("token_used", "The link was already used."),
    ("token_expired", "The link has expired."),
    ("unknown_address", "The address is not on the waitlist."),
];

/// True for one of [`ERROR_CODES`].
pub(super) fn is_known(code: &str) -> bool {
    ERROR_CODES.iter().any(|(known, _)| *known == code)
}

/// Schema of an error's code.
#[allow(dead_code, reason = "used only by the API document")]
pub struct ErrorCode;

impl PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        let lines: Vec<_> = ERROR_CODES.iter().map(|(code, meaning)| format!("- `{code}`: {meaning}")).collect();
        let meanings: Vec<_> = ERROR_CODES.iter().map(|(_, meaning)| *meaning).collect();
        let extensions = ExtensionsBuilder::new().add("x-enum-descriptions", json!(meanings)).build();
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(format!(
                "Error code for programs. Codes never change their meaning; later versions may add codes.\n\n{}",
                lines.join("\n")
            )))
            .enum_values(Some(ERROR_CODES.iter().map(|(code, _)| *code)))
            .extensions(Some(extensions))
            .into()
    }
}
impl ToSchema for ErrorCode {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Texts that follow `before` in a source, ignoring whitespace.
    fn literals<'a>(source: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
        source.split(before).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
    }

    fn codes_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                codes_in(&path, found);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            for before in ["bad_request(", "not_found(", "unavailable("] {
                found.extend(literals(source, before).map(str::to_owned));
            }
            for call in source.split("Error::new(").chain(source.split("Self::new(")).skip(1) {
                let arguments: String = call.chars().take(120).collect();
                if let Some((status, rest)) = arguments.split_once(',')
                    && (status.contains("StatusCode::") || status.trim() == "status")
                {
                    found.extend(
                        rest.trim_start().strip_prefix('"').and_then(|it| it.split('"').next()).map(str::to_owned),
                    );
                }
            }
        }
    }

    #[test]
    fn every_code_in_the_source_is_listed_once() {
        let mut found = BTreeSet::new();
        for folder in ["core", "gate", "platform", "extensions", "game", "operation", "server"] {
            codes_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("src"), &mut found);
        }
        found.remove("");
        assert!(found.len() > 60 && found.contains("bus_unreachable") && found.contains("node_lost"), "{found:?}");
        let unknown: Vec<_> = found.iter().filter(|code| !is_known(code)).collect();
        assert!(unknown.is_empty(), "add to ERROR_CODES: {unknown:?}");
        let listed: BTreeSet<_> = ERROR_CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(listed.len(), ERROR_CODES.len());
        assert!(ERROR_CODES.iter().all(|(_, meaning)| meaning.ends_with('.') && meaning.len() < 130));
    }
}
