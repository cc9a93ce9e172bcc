//! Webhooks and their deliveries.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantArray as _;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::events::EventKind;
use crate::ids::Ids;
use crate::secret_text::SecretText;
use crate::values::NetworkId;
use crate::webhooks::template::Template;

/// Prefix of secrets.
pub(super) const SECRET_PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;
/// Event of a test, which no webhook subscribes to.
pub(super) const TEST_EVENT: &str = "TEST";

/// Messages by event name.
pub(super) type Templates = BTreeMap<String, Template>;

/// Format of the messages.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookKind)]
pub(super) enum WebhookKind {
    /// The event, signed by Standard Webhooks.
    #[default]
    Standard,
    /// A message for a channel in Discord.
    Discord,
}

/// Reason for which a webhook is disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookDisabledReason)]
pub(super) enum DisabledReason {
    /// Disabled by a request.
    Requested,
    /// No attempt has succeeded for five days.
    Failing,
    /// The receiver reported that it is gone: 410, or Discord's 401, 403 or 404.
    Gone,
    /// The key or person that created it is gone, or lost the right to.
    CreatorLeft,
}

/// State of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = WebhookDeliveryState)]
pub(super) enum DeliveryState {
    /// It is being tried, or waits behind others.
    Waiting,
    /// The receiver answered with 2xx.
    Delivered,
    /// It is no longer tried.
    Failed,
}

/// An event that webhooks can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WebhookEvent(pub(super) EventKind);

impl WebhookEvent {
    fn all() -> impl Iterator<Item = &'static str> {
        EventKind::VARIANTS.iter().filter(|kind| kind.is_subscribable()).map(|kind| kind.name())
    }

    /// True if webhooks can subscribe to an event of this name.
    fn is_known(name: &str) -> bool {
        Self::parse(name).is_ok()
    }

    /// Event of this name, or the reason against it.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let kind = name.parse().ok().filter(|kind: &EventKind| kind.is_subscribable());
        let known = || Self::all().collect::<Vec<_>>().join(", ");
        kind.map(Self).ok_or_else(|| format!("`{name}` is not an event of webhooks; use {}", known()))
    }
}

impl<'de> Deserialize<'de> for WebhookEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for WebhookEvent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl PartialSchema for WebhookEvent {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("An event that webhooks can subscribe to, by its name on streams."))
            .enum_values(Some(Self::all()))
            .into()
    }
}
impl ToSchema for WebhookEvent {}

/// A webhook.
#[derive(Clone, Debug)]
pub(super) struct Webhook {
    pub(super) network: NetworkId,
    pub(super) id: String,
    pub(super) kind: WebhookKind,
    pub(super) name: Option<String>,
    /// Secret, because Discord's URLs hold a token.
    pub(super) url: SecretText,
    pub(super) events: Vec<WebhookEvent>,
    pub(super) templates: Templates,
    /// Empty if the key that sealed it is lost.
    pub(super) secret: SecretText,
    pub(super) previous_secret: Option<SecretText>,
    pub(super) previous_until: Option<Millis>,
    /// None while it is enabled.
    pub(super) disabled: Option<DisabledReason>,
    pub(super) created_at: Millis,
    /// Key or person that created it.
    pub(super) created_by: Option<String>,
    pub(super) updated_at: Millis,
    pub(super) waiting: i64,
    pub(super) dropped: i64,
    pub(super) failures: i64,
    pub(super) failing_since: Option<Millis>,
    pub(super) last_success_at: Option<Millis>,
    pub(super) last_failure_at: Option<Millis>,
    pub(super) next_attempt_at: Millis,
    /// Number of the newest delivery.
    pub(super) last_seq: i64,
}

impl Webhook {
    /// Secrets valid at `now`, newest first.
    pub(super) fn secrets(&self, now: Millis) -> impl Iterator<Item = &SecretText> {
        let previous = self.previous_secret.as_ref().filter(|_| self.previous_until.is_some_and(|until| now < until));
        std::iter::once(&self.secret).chain(previous).filter(|secret| !secret.is_empty())
    }
}

/// True if webhooks can subscribe to an event of this name.
pub fn is_subscribable(event: &str) -> bool {
    WebhookEvent::is_known(event)
}

/// A new secret.
pub fn new_secret(ids: &Ids) -> SecretText {
    format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(ids.bytes::<SECRET_BYTES>())).into()
}

/// A delivery of an event to a webhook, or its outcome.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) seq: i64,
    /// Hash of its event's subject.
    pub(super) subject: i64,
    pub(super) message_id: String,
    pub(super) event: String,
    /// Event as stored, with its codes sealed.
    pub(super) data: String,
    pub(super) event_at: Millis,
    pub(super) queued_at: Millis,
    pub(super) state: DeliveryState,
    pub(super) attempts: i64,
    pub(super) attempted_at: Option<Millis>,
    pub(super) status: Option<i64>,
    pub(super) error: Option<String>,
    pub(super) duration_ms: Option<i64>,
    pub(super) finished_at: Option<Millis>,
}

/// A new delivery.
#[derive(Clone, Debug)]
pub(super) struct NewDelivery {
    pub(super) subject: i64,
    pub(super) message_id: String,
    pub(super) event: String,
    pub(super) data: String,
    pub(super) event_at: Millis,
}
