//! The OpenAPI document: what all operations have in common; the rest is declared by each handler.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Required,
    ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use crate::http::error::ErrorBody;
use crate::http::error_code::ErrorCode;
use crate::http::examples;

/// The tags in the order in which a new user needs them.
const TAGS: &[(&str, &str)] = &[
    ("Servers", "Register a game server or a proxy, keep it online, and say who is on it."),
    ("Events", "The stream by which the hub speaks to servers."),
    ("Players", "Who was ever seen, and what games store about them."),
    ("Matchmaking", "Find the best server or world for a player or a party."),
    ("Transfers", "Send players to other servers."),
    ("Chat", "Relay lines of chat to all servers, through the network's filters."),
    ("Punishments", "Bans, mutes, warnings and kicks."),
    ("Permissions", "Groups, nodes, and what a player may do."),
    ("Economy", "Balances, transactions, statistics and leaderboards of players and any other owner."),
    ("Localization", "The catalog of messages and players' languages."),
    ("Config", "Config documents that servers share."),
    ("Collections", "Documents with indexes."),
    ("Worlds", "Worlds that are opened on demand, and the nodes that run them."),
    ("Node agents", "What the agent beside a server calls."),
    ("Provisioning", "The agent's script, bundles of files, and servers that are being made."),
    ("Manage: servers", "See and control servers."),
    ("Manage: economy", "Define currencies and read the ledger."),
    ("Modules", "Upload WebAssembly modules, and choose which decide."),
    ("Artifacts", "Files such as plugins, and links to them."),
    ("Webhooks", "Events that are sent to URLs and to channels in Discord."),
    ("Imports", "Take over what other tools stored: permissions, punishments, balances."),
    ("Keys", "API keys and the signing secret."),
    ("People", "Who works on a network: invitations, roles, signing in."),
    ("Privacy", "What is kept of a player, and its deletion."),
    ("Audit", "Who changed what, when and from where."),
    ("Usage", "What the network used, by hours."),
    ("Waitlist", "The list of who waits for the launch."),
    ("Operator", "Networks and plans, for whoever runs the hub."),
    ("Health", "Whether the hub works."),
    ("About", "Which hub this is."),
];

/// The document without operations.
pub(crate) fn base() -> OpenApi {
    let mut components = Components::new();
    components.schemas.insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    components.schemas.insert(ErrorCode::name().into_owned(), ErrorCode::schema());
    let key = ApiKeyValue::with_description(
        "X-Service-Api-Key",
        "A key of your network, made by the operator or at /api/manage/keys. Each operation names the scopes of which \
         the key needs one.",
    );
    components.add_security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(key)));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Network Hub")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(include_str!("openapi.md")))
                .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
                .build(),
        )
        .components(Some(components))
        .tags(Some(TAGS.iter().map(|(name, about)| TagBuilder::new().name(*name).description(Some(*about)).build())))
        .build()
}

/// What a POST does with its `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptKey {
    /// It is kept in the transaction of the effect.
    WithEffect,
    /// It is kept with the answer, after the effect.
    AfterEffect,
    /// There is no effect.
    Never,
}

impl KeptKey {
    const fn description(self) -> &'static str {
        match self {
            Self::WithEffect => {
                "Makes a retry safe: the same key with the same body has one effect and one answer for 24 hours, whatever \
                 becomes of the hub meanwhile. An answer over 64 KiB is not kept: a repeat is 409 `answer_not_kept`."
            }
            Self::AfterEffect => {
                "Makes a retry safe: the same key with the same body has one effect and one answer for 24 hours, from its \
                 answer on. The effect is not in the database alone, so it comes before the answer is kept: if the hub \
                 dies in between, or answers 5xx, a repeat is done again. An answer over 64 KiB is not kept: a repeat is \
                 409 `answer_not_kept`."
            }
            Self::Never => "Ignored: this operation changes nothing, and a repeat reads again.",
        }
    }
}

/// Adds the error responses that follow from what an operation takes: one that needs a key can refuse it, one with
/// parameters can find them wrong. `kept_key` knows each POST by its path.
pub(crate) fn complete(document: &mut OpenApi, kept_key: impl Fn(&str) -> KeptKey) {
    for (path, item) in &mut document.paths.paths {
        if let Some(post) = item.post.as_mut().filter(|post| post.security.is_some()) {
            add_idempotency_key(post, kept_key(path));
        }
        let operations =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch, &mut item.head];
        for operation in operations.into_iter().flatten() {
            complete_operation(operation);
        }
    }
    examples::complete(document);
}

/// Every POST that needs a key can be retried.
fn add_idempotency_key(operation: &mut Operation, kept_key: KeptKey) {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]([ -~]*[!-~])?$"))
        .build();
    let header = ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(kept_key.description()))
        .schema(Some(text))
        .build();
    operation.parameters.get_or_insert_default().push(RefOr::T(header));
    add_error(
        operation,
        "409",
        "The Idempotency-Key was used before, and the answer of then is not kept for this caller",
    );
}

/// A large answer may have to wait for others to be read.
pub(crate) fn add_unread_answers(item: &mut PathItem) {
    for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
        add_error(
            operation,
            "503",
            "`answers_unread`: callers of this network have not read its large answers; `Retry-After` says when to come back",
        );
    }
}

fn complete_operation(operation: &mut Operation) {
    let takes_parameters = operation.parameters.as_ref().is_some_and(|list| !list.is_empty());
    if takes_parameters || operation.request_body.is_some() {
        add_error(operation, "400", "The request's syntax or one of its values is wrong; the error says which");
    }
    if operation.security.is_some() {
        add_error(operation, "401", "The key is missing, malformed, unknown, expired or revoked");
        add_error(
            operation,
            "403",
            "The key lacks the scope or is bound to other servers or addresses, or its network is suspended; \
             `quota_exceeded`: the network has as much as it may have, of what `limit` names",
        );
        add_error(operation, "429", "Too many requests; `Retry-After` says when to come back");
    }
    if operation.request_body.is_some() {
        add_error(operation, "408", "The body took too long to come in");
        add_error(operation, "413", "The body is too large");
    }
    for (status, response) in &mut operation.responses.responses {
        // The specification requires a description, and generators refuse a document without.
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            let description = if status == "201" { "Created" } else { "Done" };
            description.clone_into(&mut response.description);
        }
    }
}

fn add_error(operation: &mut Operation, status: &str, description: &str) {
    operation.responses.responses.entry(status.to_owned()).or_insert_with(|| {
        let error = Ref::from_schema_name(ErrorBody::name());
        RefOr::T(
            ResponseBuilder::new()
                .description(description)
                .content("application/json", ContentBuilder::new().schema(Some(error)).build())
                .build(),
        )
    });
}
