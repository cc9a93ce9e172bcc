//! The custom section that holds a manifest.

use super::{Invalid, MAX_MANIFEST_BYTES};
use wasmparser::{Parser, Payload};

/// Name of the custom section.
pub const SECTION: &str = "network-hub:manifest";

/// The text of an upload's manifest: that of its outermost component or core module. `None` if it has none.
///
/// # Errors
/// It has two, or one that is too large.
pub fn read(upload: &[u8]) -> Result<Option<&[u8]>, Invalid> {
    let mut found = None;
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(upload) {
        // Unreadable uploads are refused elsewhere, with a better reason.
        let Ok(payload) = payload else { break };
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if depth == 0 && section.name() == SECTION => {
                let (start, text) = (section.data_offset(), section.data());
                if text.len() > MAX_MANIFEST_BYTES {
                    let reason = format!("it has {} bytes, more than {MAX_MANIFEST_BYTES}", text.len());
                    return Err(Invalid::new("", reason));
                }
                if found.replace(&upload[start..start + text.len()]).is_some() {
                    return Err(Invalid::new("", format!("there are two custom sections {SECTION}")));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A component or core module with a manifest added to its end.
pub fn embed(mut module: Vec<u8>, manifest: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    leb128(SECTION.len(), &mut content);
    content.extend_from_slice(SECTION.as_bytes());
    content.extend_from_slice(manifest);
    // Custom sections have the number 0 in both.
    module.push(0);
    leb128(content.len(), &mut module);
    module.extend_from_slice(&content);
    module
}

fn leb128(mut number: usize, to: &mut Vec<u8>) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            return to.push(low);
        }
        to.push(low | 0x80);
    }
}
