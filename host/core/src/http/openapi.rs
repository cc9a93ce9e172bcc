//! OpenAPI document: common parts of all operations; handlers declare the rest.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Required,
    ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use crate::http::error::ErrorBody;
use crate::http::error_code::{self, ErrorCode};
use crate::http::examples;

/// Document without operations.
pub fn base() -> OpenApi {
    let mut components = Components::new();
    components.schemas.insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    let key = ApiKeyValue::with_description(
        "X-Service-Api-Key",
        "API key of your network, created by the operator or at /api/manage/keys. Each operation requires one of \
         the scopes that it lists.",
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
        .build()
}

/// Handling of the `Idempotency-Key` of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptKey {
    /// Stored in the transaction of the effect.
    WithEffect,
    /// Stored with the response, after the effect.
    AfterEffect,
    /// Not stored: there is no effect.
    Never,
    /// Not stored: a repetition is safe without it.
    Needless,
}

impl KeptKey {
    const fn description(self) -> &'static str {
        match self {
            Self::WithEffect => {
                "Makes a retry safe: the same key with the same body has one effect and one response for 24 hours, \
                 even if the hub fails meanwhile. Responses over 64 KiB are not stored: a retry is 409 \
                 `answer_not_kept`."
            }
            Self::AfterEffect => {
                "Makes a retry safe: the same key with the same body has one effect and one response for 24 hours \
                 after the response. The effect is not only in the database, so it precedes the storing of the \
                 response: if the hub dies in between, or responds 5xx, a retry has the effect again. Responses \
                 over 64 KiB are not stored: a retry is 409 `answer_not_kept`."
            }
            Self::Never => "Ignored: this operation changes nothing, so a retry reads again.",
            Self::Needless => "Ignored: this operation is safe to repeat.",
        }
    }
}

/// Adds the error codes, and the error responses that follow from an operation's inputs: it may refuse its key and find its parameters
/// invalid. `kept_key` maps the path of each POST.
pub fn complete(document: &mut OpenApi, codes: &[&ErrorCode], kept_key: impl Fn(&str) -> KeptKey) {
    if let Some(components) = &mut document.components {
        components.schemas.insert(ErrorCode::name().into_owned(), error_code::schema(codes));
    }
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

/// Adds the header to every POST with a key, since these can be retried.
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
    if matches!(kept_key, KeptKey::Never | KeptKey::Needless) {
        return;
    }
    add_error(
        operation,
        "409",
        "The Idempotency-Key was already used, and its response is not available to this caller",
    );
}

/// Adds the error of operations with large responses, which may have to wait until others are read.
pub(crate) fn add_unread_answers(item: &mut PathItem) {
    for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
        add_error(
            operation,
            "503",
            "`answers_unread`: too many large responses to this network are unread; retry after `Retry-After` seconds",
        );
    }
}

fn complete_operation(operation: &mut Operation) {
    let takes_parameters = operation.parameters.as_ref().is_some_and(|list| !list.is_empty());
    if takes_parameters || operation.request_body.is_some() {
        add_error(operation, "400", "The syntax or a value of the request is invalid; see the message");
    }
    if operation.security.is_some() {
        add_error(operation, "401", "The key is missing, malformed, unknown, expired or revoked");
        add_error(
            operation,
            "403",
            "The key lacks the scope or is bound to other servers or addresses, or its network is \
             suspended; `quota_exceeded`: the network has reached the limit named in `limit`",
        );
    }
    add_error(operation, "429", "Too many requests; retry after `Retry-After` seconds");
    if operation.request_body.is_some() {
        add_error(operation, "408", "The body was not received in time");
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
