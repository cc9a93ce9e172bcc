//! Punishments from the databases of LiteBans, AdvancedBan, LibertyBans and BanManager.

mod advancedban;
mod banmanager;
mod libertybans;
mod litebans;
mod raw;

use crate::imports::findings::Findings;
use crate::imports::model::{Import, ImportKind};
use crate::imports::record::{ParseError, Sink};
use crate::imports::source::SourceFile;

/// Reads a database.
pub(super) fn read(
    file: &SourceFile<'_>,
    import: &Import,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    match import.kind {
        ImportKind::AdvancedBan => advancedban::read(file, import, known, findings, sink),
        ImportKind::LibertyBans => libertybans::read(file, import, known, findings, sink),
        ImportKind::BanManager => banmanager::read(file, import, known, sink),
        _ => litebans::read(file, import, known, sink),
    }
}
