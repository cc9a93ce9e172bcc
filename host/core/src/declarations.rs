//! Declarations of this crate's own modules. They stand together because `component` is above what it declares here.

use crate::auth::moves::MovingNetworks;
use crate::auth::{self, AuditOrder, KeyCache, RevocationWatch};
use crate::component::{Component, TableRule};
use crate::http::connection::Connections;
use crate::http::error_code::ErrorCode;
use crate::limits::{Limits, Usage};
use crate::secrets::watch_file;

pub static HTTP: Component = Component {
    purpose: "what all routes share: extractors, errors, connections, the API documents ([API](../connectors/guide.md))",
    errors: &[
        ErrorCode::new("invalid_request", &[400], "The syntax or a value of the request is invalid; see the message."),
        ErrorCode::new(
            "revision_changed",
            &[409],
            "Somebody changed it since the revision of `If-Match`; `changed` has both values.",
        ),
        ErrorCode::new("request_timeout", &[408], "The request was not received in time."),
        ErrorCode::new("body_too_large", &[413], "The body exceeds the route's size limit."),
        ErrorCode::new("empty_body", &[400], "The body is empty; a file is required."),
        ErrorCode::new("answer_too_large", &[400], "The response would exceed 4 MiB; request less."),
        ErrorCode::new("invalid_cursor", &[400], "The cursor was not returned by this route."),
        ErrorCode::new("in_use", &[409], "Something else names it; change that first."),
        ErrorCode::new("invalid_signature", &[401, 403], "The request or link is not signed as it must be."),
        ErrorCode::new("unknown_session", &[404], "There is no such session, or it has ended."),
        ErrorCode::new("unknown_route", &[404], "There is no such route."),
        ErrorCode::new("method_not_allowed", &[405], "The route exists, but not with this method."),
        ErrorCode::new(
            "too_many_connections",
            &[429, 503],
            "Too many open connections to the hub or from the caller's address.",
        ),
        ErrorCode::new(
            "internal",
            &[500],
            "Internal error; the operator can find the cause in the log by the request id.",
        ),
        ErrorCode::new("stopping", &[503], "The hub is stopping; try again."),
        ErrorCode::new(
            "database_timeout",
            &[503],
            "The request exceeded the database's time limit and had no effect; try again.",
        ),
        ErrorCode::new("database_unavailable", &[503], "The database is unreachable or overloaded; try again."),
        ErrorCode::new(
            "no_public_url",
            &[400],
            "Links require the hub's public URL; the operator must set `--public-url`.",
        ),
    ],
    register: |states, opening| {
        states.insert(Connections::of(opening.settings));
        Ok(())
    },
    ..Component::new("hub_core::http")
};

pub static AUTH: Component = Component {
    purpose: "keys, sessions and scopes: who calls, and what they may ([keys](../operate/keys.md))",
    errors: &[
        ErrorCode::new("unauthenticated", &[401], "The key is missing, malformed, unknown, expired or revoked."),
        ErrorCode::new("forbidden_scope", &[403], "The key lacks the scope required by the route."),
        ErrorCode::new("forbidden_origin", &[403], "The key is bound to other servers or addresses."),
        ErrorCode::new("network_suspended", &[403], "The network is suspended, or will be deleted."),
        ErrorCode::new("network_moving", &[503, 409], "The network is moving to another hub; try again."),
        ErrorCode::new("network_moved", &[403], "The network moved to another hub."),
        ErrorCode::new("csrf_token_wrong", &[403], "Changes by session cookie require the right `X-CSRF-Token`."),
        ErrorCode::new("not_a_member", &[403], "The person is not a member of the network."),
        ErrorCode::new("second_factor_required", &[403], "The network requires a second factor of its members."),
        ErrorCode::new(
            "network_needed",
            &[400],
            "The person is a member of several networks: select one with `X-Network-Id`.",
        ),
    ],
    register: |states, _| {
        states.insert(KeyCache::default());
        states.insert(RevocationWatch::default());
        states.insert(MovingNetworks::default());
        states.insert(AuditOrder::default());
        Ok(())
    },
    background: auth::start,
    stop: |app| Box::pin(auth::stop(app)),
    ..Component::new("hub_core::auth")
};

pub static LIMITS: Component = Component {
    purpose: "what networks and addresses may use, asked by all others ([plans](../operate/plans.md))",
    tables: &[TableRule::left("network_usage").not_backed_up("counted by triggers").without_players("counts")],
    errors: &[
        ErrorCode::new("quota_exceeded", &[403], "The network has reached the limit named in `limit`."),
        ErrorCode::new("rate_limited", &[429], "Too many requests; retry after `Retry-After` seconds."),
    ],
    register: |states, _| {
        states.insert(Limits::default());
        states.insert(Usage::default());
        Ok(())
    },
    ..Component::new("hub_core::limits")
};

pub static SECRETS: Component = Component {
    purpose: "secrets of the hub itself, one for each purpose",
    tables: &[TableRule::hub("hub_secrets")],
    background: |app| app.spawn(watch_file(app.clone())),
    ..Component::new("hub_core::secrets")
};
