//! Hashing passwords: with argon2id, on threads of their own, few at a time.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::{Argon2, PasswordHash, PasswordHasher as _, PasswordVerifier as _};
use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::people::People;
use crate::people::model::Password;

/// Hashes that are computed at once: each takes some 30 ms of a processor, and 19 MiB.
const AT_ONCE: usize = 2;
/// Hashes that may wait: about a second's work. Further callers are told to retry.
const WAITING: usize = 60;
const SALT_LENGTH: usize = 22;

/// What is hashed at the moment.
#[derive(Debug)]
pub(super) struct Hashing {
    permits: Semaphore,
    waiting: AtomicUsize,
}

impl Default for Hashing {
    fn default() -> Self {
        Self { permits: Semaphore::new(AT_ONCE), waiting: AtomicUsize::new(0) }
    }
}

/// A password that waits or is hashed, counted until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hashing {
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            let message = "Too many people sign in at this moment; try again.";
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(1));
        }
        let _permit = self.permits.acquire().await.map_err(ApiError::internal)?;
        let done = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal);
        drop(waiting);
        done
    }
}

/// What is stored of a password: a PHC string, with the parameters that OWASP recommends (19 MiB, two passes).
pub(super) fn hash_now(ids: &Ids, password: &str) -> Result<String, argon2::password_hash::Error> {
    let salt = ids.token(SALT_LENGTH);
    let hash: PasswordHash = Argon2::default().hash_password_with_salt(password.as_bytes(), salt.as_bytes())?;
    Ok(hash.to_string())
}

/// [`hash_now`] on a thread of its own.
pub(super) async fn hash(app: &App, password: &Password) -> Result<String, ApiError> {
    let (ids, password) = (app.ids.clone(), password.clone());
    let hashed = app.state::<People>().hashing.run(move || hash_now(&ids, password.expose())).await?;
    hashed.map_err(|error| ApiError::internal(std::io::Error::other(error.to_string())))
}

/// Whether a password has this hash. Without a hash it is false, after as much time.
pub(super) async fn verify(app: &App, hash: Option<String>, password: &Password) -> Result<bool, ApiError> {
    /// Compared with where there is no account: the hash of the empty password, which nobody can send.
    static NOBODYS: LazyLock<String> = LazyLock::new(|| hash_now(&Ids::System, "").unwrap_or_default());
    let password = password.clone();
    app.state::<People>()
        .hashing
        .run(move || {
            let hash = hash.as_deref().unwrap_or(&NOBODYS);
            let Ok(hash) = PasswordHash::new(hash) else { return false };
            Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok()
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_argon2id_with_its_salt_and_its_parameters() {
        let ids = Ids::seeded(1);
        let (one, other) = (hash_now(&ids, "correct horse").unwrap(), hash_now(&ids, "correct horse").unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        let hash = PasswordHash::new(&one).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &hash).is_ok());
        assert!(Argon2::default().verify_password(b"correct horsE", &hash).is_err());
    }
}
