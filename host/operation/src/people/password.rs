//! Hashes passwords with argon2id, on separate threads, few at a time.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::{Argon2, PasswordHash, PasswordHasher as _, PasswordVerifier as _};
use axum::http::StatusCode;
use tokio::sync::{Semaphore, oneshot};

use crate::app::App;
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::people::People;
use crate::people::model::Password;

/// Concurrent hashes: each takes some 30 ms of a processor, and 19 MiB.
const MAX_CONCURRENT: usize = 2;
/// Maximum number of waiting hashes: about a second's work. Further callers have to retry.
const MAX_WAITING: usize = 60;
const SALT_LENGTH: usize = 22;

/// Below all other threads of the hub: sign-ins must not slow players down.
const NICENESS: i32 = 10;

/// Hashing in progress.
#[derive(Debug, Default)]
pub(super) struct Hashing {
    /// For anyone.
    public: Queue<MAX_CONCURRENT>,
    /// Kept for addresses at which the account was signed in: strangers' attempts do not lock its owner out.
    known: Queue<1>,
}

/// Threads that hash, and those who wait for one.
#[derive(Debug)]
struct Queue<const THREADS: usize> {
    permits: Semaphore,
    waiting: AtomicUsize,
}

impl<const THREADS: usize> Default for Queue<THREADS> {
    fn default() -> Self {
        Self { permits: Semaphore::new(THREADS), waiting: AtomicUsize::new(0) }
    }
}

/// A password that is waiting or being hashed, counted until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hashing {
    async fn run<T: Send + 'static>(
        &self,
        is_known: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if is_known { self.known.run(work).await } else { self.public.run(work).await }
    }
}

impl<const THREADS: usize> Queue<THREADS> {
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
            let message = "Too many people are signing in; try again.";
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(1));
        }
        let _permit = self.permits.acquire().await.map_err(ApiError::internal)?;
        let (send, done) = oneshot::channel();
        // A thread of its own: a lower priority cannot be taken back.
        let thread = std::thread::Builder::new().name("password".to_owned()).spawn(move || {
            let _ = rustix::process::setpriority_process(None, NICENESS);
            let _ = send.send(work());
        });
        thread.map_err(ApiError::internal)?;
        let done = done.await.map_err(ApiError::internal);
        drop(waiting);
        done
    }
}

/// Stored form of a password: a PHC string, with the parameters that OWASP recommends (19 MiB, two passes).
pub(super) fn hash_now(ids: &Ids, password: &str) -> Result<String, argon2::password_hash::Error> {
    let salt = ids.token(SALT_LENGTH);
    let hash: PasswordHash = Argon2::default().hash_password_with_salt(password.as_bytes(), salt.as_bytes())?;
    Ok(hash.to_string())
}

/// Runs [`hash_now`] on a separate thread.
pub(super) async fn hash(app: &App, password: &Password) -> Result<String, ApiError> {
    let (ids, password) = (app.ids.clone(), password.clone());
    let hashed = app.state::<People>().hashing.run(false, move || hash_now(&ids, password.expose())).await?;
    hashed.map_err(|error| ApiError::internal(std::io::Error::other(error.to_string())))
}

/// True if a password has this hash. Without a hash it is false, after the same time. `is_known`: the account was signed
/// in at this address.
pub(super) async fn verify(
    app: &App,
    hash: Option<String>,
    password: &Password,
    is_known: bool,
) -> Result<bool, ApiError> {
    /// Dummy for missing accounts: the hash of the empty password, which cannot be sent.
    static NOBODYS: LazyLock<String> = LazyLock::new(|| hash_now(&Ids::System, "").unwrap_or_default());
    let password = password.clone();
    app.state::<People>()
        .hashing
        .run(is_known, move || {
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
    fn hashes_are_argon2id_with_salt_and_parameters() {
        let ids = Ids::seeded(1);
        let (one, other) = (hash_now(&ids, "correct horse").unwrap(), hash_now(&ids, "correct horse").unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        let hash = PasswordHash::new(&one).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &hash).is_ok());
        assert!(Argon2::default().verify_password(b"correct horsE", &hash).is_err());
    }
}
