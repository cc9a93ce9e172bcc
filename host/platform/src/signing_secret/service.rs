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
use crate::secrets;
use crate::signing_secret::store;
use crate::values::NetworkId;

/// Table of the secrets.
const TABLE: &str = "networks";

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
    let newest = match open(app, &row.signing_secret) {
        Some(newest) => newest,
        None => renew(app, network, &row.signing_secret).await?,
    };
    Ok(SigningSecrets { newest, previous: previous.and_then(|previous| open(app, &previous)) })
}

/// A stored secret; none if there is none, or the key that sealed it is lost.
fn open(app: &App, stored: &str) -> Option<SecretText> {
    let secret = secrets::unseal_text(app, TABLE, stored)?;
    (!secret.is_empty()).then(|| secret.into())
}

/// Makes a network's secret when it is first needed, and again if the key that sealed it is lost: then connectors are
/// told.
async fn renew(app: &App, network: NetworkId, lost: &str) -> Result<SecretText, SigningSecretError> {
    if !lost.is_empty() && !secrets::is_key_current(app).await? {
        // Another node has a newer key, which this one gets soon.
        return Err(hub_db::Error::Busy.into());
    }
    let signing_secret = SecretText::from(app.ids.token(SIGNING_SECRET_LENGTH));
    let sealed = secrets::seal_text(app, TABLE, &signing_secret)?;
    let valid_until = app.clock.now();
    let renewed = app
        .db
        .transaction(async |mut tx| {
            let renewed = store::renew(&mut tx, network, &sealed, lost).await?;
            if renewed && !lost.is_empty() {
                let payload = Rotated { signing_secret: &signing_secret, valid_until };
                events::publish_in(app, &mut tx, network, EventKind::SigningSecretRotated, None, &payload).await?;
            }
            Ok::<_, SigningSecretError>(renewed)
        })
        .await?;
    if renewed {
        return Ok(signing_secret);
    }
    // Another request was first.
    let row = store::get(&app.db, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
    Ok(open(app, &row.signing_secret).ok_or(hub_db::Error::Conflict)?)
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
    let sealed = secrets::seal_text(app, TABLE, &signing_secret)?;
    let valid_until = app.clock.now().saturating_add(overlap_ms);
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            if !store::rotate(&mut tx, network, &sealed, valid_until).await? {
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
