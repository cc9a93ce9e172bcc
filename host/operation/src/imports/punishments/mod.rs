//! Punishments from the databases of LiteBans, AdvancedBan, LibertyBans and BanManager.

mod advancedban;
mod banmanager;
mod libertybans;
mod litebans;
mod raw;

use crate::imports::findings::Findings;
use crate::imports::model::ImportKind;
use crate::imports::reader::ReadRequest;
use crate::imports::record::{ParseError, Sink};
use crate::imports::source::SourceFile;

/// Reads a database.
pub(super) fn read(
    file: &SourceFile,
    request: &ReadRequest,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    match request.kind {
        ImportKind::AdvancedBan => advancedban::read(file, request, known, findings, sink),
        ImportKind::LibertyBans => libertybans::read(file, request, known, findings, sink),
        ImportKind::BanManager => banmanager::read(file, request, known, findings, sink),
        _ => litebans::read(file, request, known, sink),
    }
}
