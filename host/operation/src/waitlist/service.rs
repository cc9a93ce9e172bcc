//! Rules of the waitlist.

use std::net::IpAddr;

use hub_db::Tx;
use serde_json::json;
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin, RoleName};
use crate::email::{Email, fold};
use crate::http::error::ApiError;
use crate::limits::{Limits, QuotaExceeded, check_rows};
use crate::values::NetworkId;
use crate::waitlist::model::{LINK_TTL, WaitlistEntry, hash_token};
use crate::waitlist::{sender, store};
use crate::{networks, people};

/// Reason for the failure of a request about the waitlist.
#[derive(Debug, Error)]
pub(super) enum WaitlistError {
    /// This remote address has joined too often.
    #[error(transparent)]
    TooMany(ApiError),
    /// The link never existed, or is deleted.
    #[error("This link is invalid; join the waitlist again to get a new one.")]
    UnknownLink,
    /// The link was already used.
    #[error("This link was already used.")]
    LinkUsed,
    /// The link has expired.
    #[error("This link has expired; join the waitlist again to get a new one.")]
    LinkExpired,
    /// The address is not on the list.
    #[error("This address is not on the list.")]
    Unknown,
    /// The list is full. Never sent to clients.
    #[error(transparent)]
    Full(#[from] QuotaExceeded),
    /// The invitation was refused.
    #[error(transparent)]
    Refused(ApiError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<WaitlistError> for ApiError {
    fn from(error: WaitlistError) -> Self {
        let message = error.to_string();
        match error {
            WaitlistError::TooMany(error) | WaitlistError::Refused(error) => error,
            WaitlistError::UnknownLink => Self::bad_request("unknown_token", message),
            WaitlistError::LinkUsed => Self::bad_request("token_used", message),
            WaitlistError::LinkExpired => Self::bad_request("token_expired", message),
            WaitlistError::Unknown => Self::not_found("unknown_address", message),
            WaitlistError::Full(exceeded) => exceeded.into(),
            WaitlistError::Database(error) => error.into(),
        }
    }
}

/// Adds an address. An address on the list gets the same answer from the same statement, and its mail later.
pub(super) async fn join(app: &App, remote: IpAddr, email: &Email, source: Option<&str>) -> Result<(), WaitlistError> {
    let now = app.clock.now();
    app.state::<Limits>().addresses.count_join(remote, now).map_err(WaitlistError::TooMany)?;
    let is_there = store::exists(&app.db, email);
    let _adding = match check_rows(app, OPERATOR_NETWORK, store::ENTRIES, 1, is_there).await {
        // The answer does not reveal it: it would show who is on the list.
        Err(WaitlistError::Full(exceeded)) => {
            tracing::warn!(%exceeded, "could not add an address to the waitlist");
            return Ok(());
        }
        checked => checked?,
    };
    app.db
        .transaction(async |mut tx| {
            if store::join(&mut tx, email, source, now).await? {
                sender::enqueue(app, &mut tx, &email.folded()).await?;
            }
            Ok::<_, hub_db::Error>(())
        })
        .await?;
    Ok(())
}

/// Confirms an address by its link, which works once.
pub(super) async fn confirm(app: &App, token: &str) -> Result<(), WaitlistError> {
    let now = app.clock.now();
    let sha256 = hash_token(token);
    let is_confirmed = app
        .db
        .transaction(async |mut tx| {
            let email = store::use_link(&mut tx, &sha256, now.saturating_sub(LINK_TTL), now).await?;
            let Some(email) = email else { return Ok(false) };
            store::confirm(&mut tx, &email, now).await?;
            sender::cancel(&mut tx, &email).await?;
            Ok::<_, hub_db::Error>(true)
        })
        .await?;
    if is_confirmed {
        return Ok(());
    }
    check_link(app, token).await?;
    Err(WaitlistError::LinkExpired)
}

/// True if the link would work, without using it up: mail scanners send HEAD requests.
pub(super) async fn check_link(app: &App, token: &str) -> Result<(), WaitlistError> {
    match store::find_link(&app.db, &hash_token(token)).await? {
        None => Err(WaitlistError::UnknownLink),
        Some(link) if link.used_at.is_some() => Err(WaitlistError::LinkUsed),
        Some(link) if app.clock.now() < link.made_at + LINK_TTL => Ok(()),
        Some(_) => Err(WaitlistError::LinkExpired),
    }
}

/// A page of the list, earliest first, and their number.
pub(super) async fn list(
    app: &App,
    confirmed: Option<bool>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<WaitlistEntry>, i64), WaitlistError> {
    Ok(store::list(&app.db, confirmed, limit, offset).await?)
}

/// Invites a person on the list to a network and removes the address from it, both or neither.
pub(super) async fn invite(
    app: &App,
    origin: &Origin,
    email: &str,
    network: NetworkId,
    role: &RoleName,
) -> Result<(), WaitlistError> {
    networks::admin::network(&app.db, network).await.map_err(|error| WaitlistError::Refused(error.into()))?;
    let folded = fold(email.trim());
    app.db
        .transaction(async |mut tx| {
            let email = store::confirmed_email(&mut tx, &folded).await?.ok_or(WaitlistError::Unknown)?;
            let email = email.parse::<Email>().map_err(|_| WaitlistError::Unknown)?;
            remove_entry(&mut tx, &folded).await?;
            let invited = people::service::invite_by_operator(app, &mut tx, origin, Some(network), &email, role).await;
            let invitation = invited.map_err(|error| WaitlistError::Refused(error.into()))?;
            let change = Change::new(Action::WaitlistEntryInvited, invitation.link_id);
            Ok(audit::record(&mut tx, OPERATOR_NETWORK, origin, change.after(json!({"networkId": network}))).await?)
        })
        .await
}

async fn remove_entry(tx: &mut Tx, folded: &str) -> Result<bool, hub_db::Error> {
    sender::cancel(tx, folded).await?;
    store::remove(tx, folded).await
}

/// Removes an address.
pub(super) async fn remove(app: &App, origin: &Origin, email: &str) -> Result<(), WaitlistError> {
    let folded = fold(email.trim());
    // The address itself is deleted: the audit log only shows that there was one.
    let removed = app.db.transaction(async |mut tx| {
        let removed = remove_entry(&mut tx, &folded).await?;
        if removed {
            let change = Change::new(Action::WaitlistEntryDeleted, "");
            audit::record(&mut tx, OPERATOR_NETWORK, origin, change).await?;
        }
        Ok::<_, hub_db::Error>(removed)
    });
    let removed = removed.await?;
    if removed { Ok(()) } else { Err(WaitlistError::Unknown) }
}
