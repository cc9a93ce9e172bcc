//! Verification of transfer commands.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use parking_lot::Mutex;
use sha2::Sha256;
use uuid::Uuid;

use crate::model::SignedTransferCommand;

/// Lifetime of commands; one that was signed just before a change of the secret may still arrive.
const COMMAND_TTL_MS: i64 = 30_000;

/// Verifies transfer commands: at the server a player is on (the connector does it), and at one that is handed a command. Keep one for as
/// long as the server runs: it remembers which commands were used.
#[derive(Debug, Default)]
pub struct TransferVerifier {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The secrets that are good, each until a time.
    secrets: HashMap<String, i64>,
    /// The transfers that were carried out, each until its command has expired.
    used: HashMap<Uuid, i64>,
    /// While a registration is under way: the end of the secrets before the changes that were told since.
    replaced_until: Option<i64>,
}

impl State {
    fn replace(&mut self, signing_secret: &str, valid_until: i64) {
        for until in self.secrets.values_mut() {
            *until = valid_until.min(*until);
        }
        self.secrets.insert(signing_secret.to_owned(), i64::MAX);
    }
}

/// Reason to refuse a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandRefusal {
    /// It is not the hub's.
    #[error("the signature is wrong")]
    WrongSignature,
    /// It came too late.
    #[error("the command has expired")]
    Expired,
    /// It came before.
    #[error("the command was used already")]
    Used,
}

impl TransferVerifier {
    /// Begins a registration: a change of the secret that is told before its answer is newer than the answer.
    pub fn registering(&self) {
        self.state.lock().replaced_until = Some(i64::MAX);
    }

    /// Takes the secret of an answer to a registration. Another one than before replaces it after 30 seconds.
    pub fn set_secret(&self, signing_secret: &str, now_ms: i64) {
        let mut state = self.state.lock();
        match state.replaced_until.take() {
            Some(until) if until < i64::MAX => {
                state.secrets.entry(signing_secret.to_owned()).or_insert(until);
            }
            _ if state.secrets.get(signing_secret) == Some(&i64::MAX) => {}
            _ => state.replace(signing_secret, now_ms + COMMAND_TTL_MS),
        }
    }

    /// Takes the new secret of `SIGNING_SECRET_ROTATED`. Those before it are good until `valid_until`, in milliseconds.
    pub fn rotate(&self, signing_secret: &str, valid_until: i64) {
        let mut state = self.state.lock();
        state.replace(signing_secret, valid_until);
        state.replaced_until = state.replaced_until.map(|until| valid_until.min(until));
    }

    /// Checks a command; one that may be obeyed counts as used from then on. `now_ms` is the time by the hub's clock.
    ///
    /// # Errors
    /// The reason to refuse it.
    pub fn verify(&self, command: &SignedTransferCommand, now_ms: i64) -> Result<(), CommandRefusal> {
        let mut state = self.state.lock();
        state.secrets.retain(|_, until| *until > now_ms);
        state.used.retain(|_, until| *until > now_ms);
        if !state.secrets.keys().any(|secret| is_signed(command, secret)) {
            return Err(CommandRefusal::WrongSignature);
        }
        if command.expires_at <= now_ms {
            return Err(CommandRefusal::Expired);
        }
        match state.used.insert(command.transfer_id, command.expires_at) {
            None => Ok(()),
            Some(_) => Err(CommandRefusal::Used),
        }
    }
}

/// While the secret changes a command carries several signatures; one that is right is enough.
fn is_signed(command: &SignedTransferCommand, secret: &str) -> bool {
    let SignedTransferCommand { transfer_id, player_uuid, target_server_id, host, port, expires_at, .. } = command;
    let world = command.target_world_id.as_deref().unwrap_or_default();
    let text = format!("{transfer_id}.{player_uuid}.{target_server_id}.{world}.{host}.{port}.{expires_at}");
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
    let mac = mac.chain_update(text);
    command.signature.split(' ').any(|signature| {
        let bytes = signature.strip_prefix("v1,").and_then(|signature| STANDARD.decode(signature).ok());
        // In constant time, so that a forger learns nothing from how long it takes.
        bytes.is_some_and(|bytes| mac.clone().verify_slice(&bytes).is_ok())
    })
}
