//! All error codes, so that the document lists them. A test finds codes in the source that are missing here.

use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Codes with what each means.
pub const ERROR_CODES: &[(&str, &str)] = &[
    // Any request.
    ("invalid_request", "The request's syntax or one of its values is wrong; the error says which."),
    ("unauthenticated", "The key is missing, malformed, unknown, expired or revoked."),
    ("forbidden_scope", "The key lacks the scope that the route needs."),
    ("forbidden_origin", "The key is bound to other servers or addresses."),
    ("network_suspended", "The network is suspended, or about to be deleted."),
    ("quota_exceeded", "The network has as much as it may have of what `limit` names."),
    ("rate_limited", "Too many requests; `Retry-After` says when to come back."),
    ("unknown_route", "There is no such route."),
    ("method_not_allowed", "The route exists, but not with this method."),
    ("request_timeout", "The request took too long to come in."),
    ("body_too_large", "The body is larger than the route allows."),
    ("empty_body", "A file was to be sent, and the body was empty."),
    ("answer_too_large", "The answer would be larger than 4 MiB; ask for less."),
    ("answers_unread", "Too many large answers to this network are unread; try again."),
    ("idempotency_mismatch", "The `Idempotency-Key` was used for another path or body."),
    (
        "answer_not_kept",
        "The request had its effect when it was first sent, and its answer is not kept for this caller.",
    ),
    ("invalid_cursor", "The cursor is none that this route answered."),
    ("internal", "The hub is at fault; the operator finds the cause in the log by the request id."),
    // For a moment.
    ("stopping", "The hub is stopping; try again."),
    ("bus_unreachable", "Events are unavailable right now; try again."),
    ("database_timeout", "This took longer than the database may take, and nothing of it is kept; try again."),
    ("database_unavailable", "The database can't be reached, or is too busy; try again."),
    ("no_home", "The hub's nodes have not agreed yet on who serves the network; try again."),
    ("moved", "The network just moved to another of the hub's nodes; try again."),
    ("node_lost", "The node that served the request failed meanwhile: it may or may not have taken effect."),
    ("too_many_connections", "The hub, or the caller's address, has too many connections open."),
    ("storage_full", "The hub has no room left for files."),
    // Servers and their agents.
    ("unknown_server", "The hub does not know the server; a heartbeat's sender is to register again."),
    ("player_not_on_server", "The player is not on that server."),
    ("server_offline", "The server is offline."),
    ("not_connected", "The server's event stream, or its agent, is not connected."),
    ("no_node", "No node agent reports the server."),
    ("no_answer", "The server or its agent did not answer in time."),
    ("no_output", "The agent did not deliver the output in time."),
    ("unknown_transfer", "There is no such transfer."),
    // Players and their money.
    ("unknown_player", "The network has never seen the player."),
    ("unknown_namespace", "The player has no data in the namespace."),
    ("version_conflict", "Another write came first; read again and retry."),
    ("insufficient_funds", "An exact change would leave less than the currency's minimum; nothing was changed."),
    ("over_maximum", "An exact change would leave more than the currency's maximum; nothing was changed."),
    // Punishments, permissions, chat.
    ("unknown_punishment", "There is no such punishment."),
    ("punishment_rejected", "The network's modules refused the punishment."),
    ("unknown_group", "The network has no such permission group."),
    ("chat_rejected", "The network's chat filter refused the line."),
    // Localization, configuration, collections.
    ("unknown_override", "The operator has not changed this message."),
    ("default_locale_needed", "A network has exactly one default locale: make another one the default instead."),
    ("default_locale_disabled", "The default locale must be enabled."),
    ("unknown_config", "There is no such config document."),
    ("unknown_collection", "There is no such collection."),
    ("unknown_document", "There is no such document."),
    ("field_not_indexed", "The field has no index."),
    ("wrong_index_type", "The field's index has no range."),
    ("index_building", "The index is not built yet; try again."),
    ("index_type_changed", "The field is indexed with another type."),
    ("index_value_too_long", "A value is too long for an index."),
    ("key_mismatch", "The document's key field is not the id in the path."),
    ("key_changed", "The collection is registered with another key."),
    // Imports from other tools.
    ("unknown_import", "There is no such import."),
    ("import_running", "Another import of the network has not ended."),
    // Webhooks.
    ("unknown_webhook", "There is no such webhook."),
    ("unknown_delivery", "The webhook has no such delivery, or it was forgotten."),
    ("webhook_disabled", "The webhook is disabled, so nothing is sent to it."),
    ("delivery_waiting", "The delivery still waits to be sent."),
    // Worlds.
    ("unknown_world", "The network has no such lease of a world."),
    ("lease_ended", "The lease has ended; the world may be another node's by now."),
    ("stale_fence", "The lease has another fence."),
    ("wrong_node", "The lease is another node's."),
    ("world_not_ready", "The world is not up yet."),
    ("not_persistent", "The world is EPHEMERAL and never snapshot."),
    ("unknown_snapshot", "There is no such snapshot, or it is none of this lease's."),
    ("snapshot_missing", "Nothing was uploaded under this key yet."),
    ("no_public_url", "The hub does not know its own URL, which a link needs; its operator sets `--public-url`."),
    // Links and files.
    ("invalid_link", "The link is malformed, or its signature is not the hub's."),
    ("invalid_signature", "The link is malformed, or its signature is not the hub's."),
    ("link_expired", "The link has expired."),
    ("unknown_artifact", "There is no such artifact."),
    ("version_exists", "This version has other bytes; a version never changes."),
    ("unknown_bundle", "There is no bundle for this server type."),
    // Modules.
    ("invalid_module", "The bytes are no module that the hub can run; the error says why."),
    ("unknown_module", "There is no such module or version."),
    ("module_not_ready", "The module is not compiled yet, or was rejected."),
    ("failed_trial", "With this configuration the module fails its trial call; the error says how."),
    ("module_in_use", "The version is part of a chain."),
    ("unknown_point", "There is no such extension point."),
    ("point_not_offered", "The module does not export this extension point."),
    ("nothing_to_roll_back", "The extension point has had no chain before."),
    ("unknown_call", "There is no such recorded call."),
    // Keys, networks and the operator.
    ("unknown_key", "There is no such API key."),
    ("operator_scope", "The scope `operator` belongs to the operator's keys alone."),
    ("unknown_network", "There is no such network."),
    ("network_being_deleted", "The network is being deleted."),
    ("name_taken", "The name is taken."),
    ("unknown_plan", "There is no such plan."),
    ("plan_in_use", "Networks are on the plan, or it is the default."),
    // People.
    ("wrong_credentials", "The address, the password or the code is wrong."),
    ("second_factor_needed", "The password is right; a code of the second factor is needed beside it."),
    ("csrf_token_wrong", "A change by a session's cookie came without the right `X-CSRF-Token`."),
    ("not_a_member", "The person is no member of the network."),
    ("network_needed", "The person is a member of several networks and is to name one in `X-Network-Id`."),
    ("unknown_person", "There is no such person."),
    ("unknown_invitation", "There is no such invitation."),
    ("person_exists", "There is somebody with this address already, who is to sign in and join."),
    ("already_member", "There is a member with this address already."),
    ("invited_lately", "This address was just invited; try again in ten minutes."),
    ("second_factor_missing", "There is no second factor that could be confirmed."),
    ("second_factor_enabled", "There is a second factor already; disable it first."),
    ("no_password", "The account has no password: it signs in by OpenID Connect."),
    ("openid_not_set_up", "The operator has set up no OpenID provider."),
    ("openid_unavailable", "The OpenID provider can't be reached, or does not answer as it should; try again."),
    ("openid_sign_in_ended", "The sign-in was begun in another browser, has ended already, or took too long."),
    ("openid_state_wrong", "The provider's answer belongs to another sign-in."),
    ("openid_refused", "The provider did not sign the person in; the error says why."),
    ("openid_code_refused", "The provider takes the code for used or expired."),
    ("openid_token_invalid", "The provider's ID token is not for this sign-in; the error says why."),
    ("openid_email_unverified", "The provider does not confirm the person's address."),
    ("openid_subject_differs", "The provider knows the account with this address as somebody else."),
    ("not_invited", "There is no account with the address, and no invitation was named."),
    // Waitlist.
    ("unknown_token", "The link is none of the hub's."),
    ("token_used", "The link was used already."),
    ("token_expired", "The link has expired."),
    ("unknown_address", "The address is not on the waitlist."),
];

/// Whether it is one of [`ERROR_CODES`].
pub(super) fn is_known(code: &str) -> bool {
    ERROR_CODES.iter().any(|(known, _)| *known == code)
}

/// The schema of an error's code.
#[allow(dead_code, reason = "it is only there for the document")]
pub(crate) struct ErrorCode;

impl PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        let lines: Vec<_> = ERROR_CODES.iter().map(|(code, meaning)| format!("- `{code}`: {meaning}")).collect();
        let meanings: Vec<_> = ERROR_CODES.iter().map(|(_, meaning)| *meaning).collect();
        let extensions = ExtensionsBuilder::new().add("x-enum-descriptions", json!(meanings)).build();
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(format!(
                "What a program reads of an error. A code never changes its meaning; later hubs may have more.\n\n{}",
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

    /// The texts that follow `before` in a source, but for whitespace.
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
        codes_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        found.remove("");
        assert!(found.len() > 60 && found.contains("bus_unreachable") && found.contains("node_lost"), "{found:?}");
        let unknown: Vec<_> = found.iter().filter(|code| !is_known(code)).collect();
        assert!(unknown.is_empty(), "add to ERROR_CODES: {unknown:?}");
        let listed: BTreeSet<_> = ERROR_CODES.iter().map(|(code, _)| *code).collect();
        assert_eq!(listed.len(), ERROR_CODES.len());
        assert!(ERROR_CODES.iter().all(|(_, meaning)| meaning.ends_with('.') && meaning.len() < 130));
    }
}
