//! Closes a component to everything but the contract.
//!
//! The runtimes of interpreted languages bring imports of WASI along, and the exports by which they were started at
//! build time. A module that is called has no use for either, so each function imported from elsewhere becomes one
//! that traps, and each other export goes. Types keep their indices, with something harmless in the place of what is
//! gone; functions and instances are renumbered.

mod renumbered;
mod sealer;
mod traps;

use crate::inspect::is_of_contract;
use sealer::Sealer;
use wasmparser::{BinaryReaderError, Parser, Payload, Validator};

/// Gives the component with nothing but the contract on its outside.
pub(super) fn seal(component: &[u8]) -> Result<Vec<u8>, String> {
    let invalid = |error: BinaryReaderError| format!("it can't be read: {error}");
    let component = innermost(component).map_err(invalid)?;
    let types = Validator::new().validate_all(component).map_err(invalid)?;
    let sealed = Sealer::new(&types).seal(component).map_err(|error| format!("it can't be sealed: {error}"))?;
    let valid = Validator::new().validate_all(&sealed);
    valid.map(|_| sealed).map_err(|error| format!("it needs what the hub does not offer: {error}"))
}

/// The nested component that serves the points, where the outer one only wraps it.
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
