//! Rules of the signing secret.

use serde::Serialize;
use serde_json::json;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::networks::service::{NetworksError, SIGNING_SECRET_LENGTH};
use crate::secret_text::SecretText;
use crate::signing_secret::store;
use crate::values::NetworkId;

/// Reason for the failure of a request about the signing secret.
#[derive(Debug, Error)]
pub enum SigningSecretError {
    /// The network no longer exists.
    #[error(transparent)]
    Network(#[from] NetworksError),
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<SigningSecretError> for ApiError {
    fn from(error: SigningSecretError) -> Self {
        match error {
            SigningSecretError::Network(error) => error.into(),
            SigningSecretError::Refused(refusal) => refusal,
            SigningSecretError::Database(error) => error.into(),
        }
    }
}

/// Secrets that are valid now.
#[derive(Clone, Debug)]
pub struct SigningSecrets {
    /// Secret for connectors.
    pub newest: SecretText,
    /// Previous secret, while its overlap lasts.
    previous: Option<SecretText>,
}

impl SigningSecrets {
    /// All valid secrets, newest first.
    pub fn all(&self) -> impl Iterator<Item = &SecretText> {
        std::iter::once(&self.newest).chain(&self.previous)
    }
}

/// Secrets that currently sign a network's transfers.
pub async fn get(app: &App, network: NetworkId) -> Result<SigningSecrets, SigningSecretError> {
    let row = store::get(&app.db, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
    let now = app.clock.now();
    let previous = row.previous_signing_secret.filter(|_| row.previous_signing_until.is_some_and(|until| now < until));
    Ok(SigningSecrets { newest: row.signing_secret, previous })
}

/// The signing secret was replaced.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplacedSigningSecret)]
pub(super) struct Rotated<'a> {
    /// New secret.
    #[schema(value_type = String)]
    signing_secret: &'a SecretText,
    /// Time until which the old secret is valid.
    #[schema(example = 1_804_683_600_000_i64)]
    valid_until: Millis,
}

/// Replaces the secret and notifies connectors. Returns the new one, and the end of the old one's validity.
pub(super) async fn rotate(
    app: &App,
    network: NetworkId,
    origin: &Origin,
    overlap_ms: Millis,
) -> Result<(SecretText, Millis), SigningSecretError> {
    let signing_secret = SecretText::from(app.ids.token(SIGNING_SECRET_LENGTH));
    let valid_until = app.clock.now().saturating_add(overlap_ms);
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            if !store::rotate(&mut tx, network, &signing_secret, valid_until).await? {
                return Err(NetworksError::UnknownNetwork(network).into());
            }
            let change = Change::new(Action::SigningSecretRotated, "").after(json!({"overlapUntil": valid_until}));
            audit::record(&mut tx, network, origin, change).await?;
            let payload = Rotated { signing_secret: &signing_secret, valid_until };
            Ok::<_, SigningSecretError>(
                events::publish_in(app, &mut tx, network, EventKind::SigningSecretRotated, None, &payload).await?,
            )
        })
        .await?;
    Ok((signing_secret, valid_until))
}
