//! Codes to appeal with. A player is shown the code at each try to join, so it is stored; sealed, with a fingerprint by which
//! the code finds its punishment.

use hub_db::Error;

use crate::app::App;
use crate::punishments::model::{Punishment, PunishmentState};
use crate::punishments::values::PunishmentKind;
use crate::secrets;

/// Table of the codes.
const TABLE: &str = "punishments";
/// Characters of codes: none that look alike.
const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
pub(super) const LENGTH: usize = 12;

/// Code of a new punishment, as stored.
pub(super) struct NewCode {
    pub(super) sealed: String,
    pub(super) mac: Vec<u8>,
}

/// Code to appeal with, for an open ban or mute.
pub(super) fn new(app: &App, kind: PunishmentKind, state: PunishmentState) -> Result<Option<NewCode>, Error> {
    if state != PunishmentState::Open || !matches!(kind, PunishmentKind::Ban | PunishmentKind::Mute) {
        return Ok(None);
    }
    let code = app.ids.code(ALPHABET, LENGTH);
    let mac = secrets::macs(app, TABLE, &code).into_iter().next().unwrap_or_default();
    Ok(Some(NewCode { sealed: secrets::seal_text(app, TABLE, &code)?, mac }))
}

/// Fingerprints of a code, one of which its punishment has.
pub(super) fn macs(app: &App, code: &str) -> Vec<Vec<u8>> {
    secrets::macs(app, TABLE, code)
}

/// The punishment's code; none without one, or if the key that sealed it is lost.
pub(super) fn of(app: &App, punishment: &Punishment) -> Option<String> {
    secrets::unseal_text(app, TABLE, punishment.appeal_code.as_ref()?)
}

/// True if it is the punishment's code. Takes the same time wherever two codes differ.
pub(super) fn is_of(app: &App, punishment: &Punishment, code: &str) -> bool {
    of(app, punishment).is_some_and(|own| secrets::is_same(&own, code))
}
