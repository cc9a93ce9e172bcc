//! The rules of the waitlist.

use std::net::IpAddr;

use axum::http::StatusCode;
use thiserror::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::waitlist::model::{Email, Entry, LINK_LIVES, fold, hash};
use crate::waitlist::store;

/// What can be wrong with a request about the waitlist.
#[derive(Debug, Error)]
pub enum WaitlistError {
    /// This remote address has joined too often.
    #[error("Too many addresses were put on the list from where you are; try again later.")]
    TooMany {
        /// Seconds until it may again.
        retry_after: u64,
    },
    /// The link was never one, or is long forgotten.
    #[error("This link is not one of ours; join the waitlist again to get a new one.")]
    UnknownLink,
    /// The link was used.
    #[error("This link was used already; if that was you, all is well.")]
    LinkUsed,
    /// The link's time is over.
    #[error("This link has expired; join the waitlist again to get a new one.")]
    LinkExpired,
    /// The address is not on the list.
    #[error("This address is not on the list.")]
    Unknown,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<WaitlistError> for ApiError {
    fn from(error: WaitlistError) -> Self {
        let message = error.to_string();
        match error {
            WaitlistError::TooMany { retry_after } => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(retry_after)
            }
            WaitlistError::UnknownLink => Self::bad_request("unknown_token", message),
            WaitlistError::LinkUsed => Self::bad_request("token_used", message),
            WaitlistError::LinkExpired => Self::bad_request("token_expired", message),
            WaitlistError::Unknown => Self::not_found("unknown_address", message),
            WaitlistError::Database(error) => error.into(),
        }
    }
}

/// Puts an address on the list. Who is on it already sees no difference: the same one statement, and mail later.
pub(super) async fn join(
    app: &App,
    remote: IpAddr,
    email: &Email,
    source: Option<String>,
) -> Result<(), WaitlistError> {
    let now = app.clock.now();
    app.waitlist.throttle.note(remote, now).map_err(|retry_after| WaitlistError::TooMany { retry_after })?;
    store::join(&app.db, email.folded(), email.as_str().to_owned(), source, now).await?;
    app.waitlist.wake.notify_one();
    Ok(())
}

/// Uses a link up.
pub(super) async fn confirm(app: &App, token: &str) -> Result<(), WaitlistError> {
    let now = app.clock.now();
    let sha256 = hash(token);
    let confirmed = app
        .db
        .transaction(async |mut tx| {
            let used = store::use_link(&mut tx, sha256.clone(), now.saturating_sub(LINK_LIVES), now).await?;
            let Some(folded) = used else { return Ok(false) };
            store::confirm(&mut tx, folded, now).await?;
            Ok::<_, hub_db::Error>(true)
        })
        .await?;
    if confirmed { Ok(()) } else { Err(why_not(app, token).await?) }
}

/// Whether the link would work, without using it up: programs that look at mail ask for its head.
pub(super) async fn try_link(app: &App, token: &str) -> Result<(), WaitlistError> {
    let link = store::find_link(&app.db, hash(token)).await?;
    let works = link.is_some_and(|link| link.used_at.is_none() && app.clock.now() < link.made_at + LINK_LIVES);
    if works { Ok(()) } else { Err(why_not(app, token).await?) }
}

async fn why_not(app: &App, token: &str) -> Result<WaitlistError, WaitlistError> {
    Ok(match store::find_link(&app.db, hash(token)).await? {
        None => WaitlistError::UnknownLink,
        Some(link) if link.used_at.is_some() => WaitlistError::LinkUsed,
        Some(_) => WaitlistError::LinkExpired,
    })
}

/// Who is on the list, the earliest first, and how many those are.
pub(super) async fn list(
    app: &App,
    confirmed: Option<bool>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Entry>, i64), WaitlistError> {
    Ok(store::list(&app.db, confirmed, limit, offset).await?)
}

/// Takes an address off the list.
pub(super) async fn remove(app: &App, email: &str) -> Result<(), WaitlistError> {
    let folded = fold(email.trim());
    let was_there = app.db.transaction(async |mut tx| store::remove(&mut tx, &folded).await).await?;
    if was_there { Ok(()) } else { Err(WaitlistError::Unknown) }
}
