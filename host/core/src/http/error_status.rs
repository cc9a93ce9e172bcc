//! The HTTP statuses of error codes, for the reference.

/// Statuses with the codes that come with them.
const STATUSES: &[(u16, &[&str])] = &[
    (
        400,
        &[
            "already_member",
            "answer_too_large",
            "chat_rejected",
            "default_locale_disabled",
            "default_locale_needed",
            "empty_body",
            "failed_trial",
            "field_not_indexed",
            "idempotency_mismatch",
            "index_type_changed",
            "index_value_too_long",
            "insufficient_funds",
            "invalid_cursor",
            "invalid_module",
            "invalid_request",
            "invited_lately",
            "key_changed",
            "key_mismatch",
            "lease_ended",
            "module_in_use",
            "module_not_ready",
            "name_taken",
            "network_needed",
            "no_password",
            "no_public_url",
            "not_persistent",
            "nothing_to_roll_back",
            "openid_code_refused",
            "openid_sign_in_ended",
            "openid_state_wrong",
            "operator_scope",
            "over_maximum",
            "person_exists",
            "plan_in_use",
            "player_not_on_server",
            "point_not_offered",
            "punishment_rejected",
            "second_factor_enabled",
            "second_factor_missing",
            "snapshot_missing",
            "stale_fence",
            "token_expired",
            "token_used",
            "unknown_module",
            "unknown_punishment",
            "unknown_server",
            "unknown_snapshot",
            "unknown_token",
            "unknown_transfer",
            "version_exists",
            "world_not_ready",
            "wrong_index_type",
            "wrong_node",
        ],
    ),
    (401, &["second_factor_needed", "unauthenticated", "wrong_credentials"]),
    (
        403,
        &[
            "csrf_token_wrong",
            "forbidden_origin",
            "forbidden_scope",
            "invalid_link",
            "invalid_signature",
            "network_suspended",
            "not_a_member",
            "not_invited",
            "openid_email_unverified",
            "openid_refused",
            "openid_subject_differs",
            "openid_token_invalid",
            "quota_exceeded",
        ],
    ),
    (
        404,
        &[
            "no_node",
            "openid_not_set_up",
            "unknown_address",
            "unknown_artifact",
            "unknown_bundle",
            "unknown_call",
            "unknown_collection",
            "unknown_config",
            "unknown_delivery",
            "unknown_document",
            "unknown_group",
            "unknown_import",
            "unknown_invitation",
            "unknown_key",
            "unknown_module",
            "unknown_namespace",
            "unknown_network",
            "unknown_override",
            "unknown_person",
            "unknown_plan",
            "unknown_player",
            "unknown_point",
            "unknown_route",
            "unknown_server",
            "unknown_snapshot",
            "unknown_transfer",
            "unknown_webhook",
            "unknown_world",
        ],
    ),
    (405, &["method_not_allowed"]),
    (408, &["request_timeout"]),
    (
        409,
        &[
            "answer_not_kept",
            "delivery_waiting",
            "import_running",
            "network_being_deleted",
            "version_conflict",
            "webhook_disabled",
        ],
    ),
    (410, &["link_expired"]),
    (413, &["body_too_large"]),
    (429, &["rate_limited", "too_many_connections"]),
    (500, &["internal"]),
    (
        503,
        &[
            "answers_unread",
            "bus_unreachable",
            "database_timeout",
            "database_unavailable",
            "index_building",
            "moved",
            "no_answer",
            "no_home",
            "no_output",
            "node_lost",
            "not_connected",
            "openid_unavailable",
            "server_offline",
            "stopping",
            "storage_full",
            "too_many_connections",
        ],
    ),
];

/// The statuses that a code comes with.
pub fn statuses(code: &str) -> impl Iterator<Item = u16> {
    STATUSES.iter().filter(move |(_, codes)| codes.contains(&code)).map(|(status, _)| *status)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::http::StatusCode;

    use super::*;
    use crate::http::error_code::ERROR_CODES;

    /// The codes in a source, each with the beginning of the call that answers it.
    fn calls(source: &str) -> impl Iterator<Item = (&str, &str)> {
        let quoted = source.match_indices('"').filter_map(|(at, _)| {
            let code = source[at + 1..].split('"').next()?;
            Some((source[..at].trim_end(), code))
        });
        quoted.filter(|(_, code)| ERROR_CODES.iter().any(|(known, _)| known == code))
    }

    /// The status that the text before a code says.
    fn status(before: &str) -> Option<u16> {
        let shorthands = [("bad_request(", 400), ("not_found(", 404), ("unavailable(", 503)];
        if let Some((_, status)) = shorthands.iter().find(|(call, _)| before.ends_with(call)) {
            return Some(*status);
        }
        let (_, name) = before.strip_suffix(',')?.rsplit_once("StatusCode::")?;
        let known = (400..600).filter_map(|status| StatusCode::from_u16(status).ok());
        let name = name.replace('_', " ");
        let mut named = known.filter(|status| status.canonical_reason().is_some_and(|it| it.to_uppercase() == name));
        named.next().map(|status| status.as_u16())
    }

    #[test]
    fn every_code_has_its_statuses() {
        for (code, _) in ERROR_CODES {
            assert!(statuses(code).next().is_some(), "add {code} to STATUSES");
        }
        let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let crates = ["core", "gate", "platform", "extensions", "game", "operation", "server"];
        let mut folders: Vec<_> = crates.iter().map(|name| host.join(name).join("src")).collect();
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let source = std::fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap_or_default();
                for (before, code) in calls(source) {
                    let Some(status) = status(before) else { continue };
                    count += 1;
                    assert!(statuses(code).any(|known| known == status), "STATUSES lacks {status} of {code}: {path:?}");
                }
            }
        }
        assert!(count > 80, "{count}");
    }
}
