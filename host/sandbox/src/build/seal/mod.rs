//! Removes a component's imports and exports that are not part of the contract.
//!
//! The runtimes of interpreted languages import WASI, and export the functions that started them at build time. A
//! module needs neither when it is called, so each function imported from elsewhere is replaced by one that traps, and
//! each other export is removed. Types keep their indices, with a placeholder for each removed one; functions and
//! instances are renumbered.

mod renumbered;
mod sealer;
mod traps;

use crate::inspect::is_of_contract;
use sealer::Sealer;
use wasmparser::{BinaryReaderError, Parser, Payload, Validator};

/// Returns the component with the contract's imports and exports alone.
pub(super) fn seal(component: &[u8]) -> Result<Vec<u8>, String> {
    let invalid = |error: BinaryReaderError| format!("it can't be read: {error}");
    let component = innermost(component).map_err(invalid)?;
    let types = Validator::new().validate_all(component).map_err(invalid)?;
    let sealed = Sealer::new(&types).seal(component).map_err(|error| format!("it can't be sealed: {error}"))?;
    let valid = Validator::new().validate_all(&sealed);
    valid.map(|_| sealed).map_err(|error| format!("it needs features that the hub does not offer: {error}"))
}

/// The nested component that serves the points, if the outer one only wraps it.
fn innermost(component: &[u8]) -> Result<&[u8], BinaryReaderError> {
    let mut open = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { unchecked_range: range, .. }
            | Payload::ComponentSection { unchecked_range: range, .. } => open.push(range),
            Payload::End(_) => drop(open.pop()),
            Payload::ComponentExportSection(section) => {
                for export in section {
                    if let (true, [range]) = (is_of_contract(export?.name.name), &open[..]) {
                        return Ok(&component[range.clone()]);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(component)
}
