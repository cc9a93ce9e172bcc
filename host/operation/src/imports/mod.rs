//! Imports of permissions, punishments and balances from other tools.
//!
//! A file is uploaded to the blob store and its import recorded. The network's owner has a confined child process read
//! it twice: first completely, so that an invalid file changes nothing, then to write it in batches of some
//! milliseconds. Each batch is one transaction that also stores the import's position, so that an interrupted import
//! resumes there, at any node, once: one whose hub ends a second time fails. A dry run computes the same without writing.
//!
//! Files are hostile: the hub itself reads only the child's messages. Parsers get their bytes and give their records
//! through a budget, expansions are weighed before they are made, and what cannot be read is refused or noted, never
//! guessed.
//!
//! Invariants: a network has at most one unfinished import; imported records are recognised by their source, so that
//! repeating an import of a file changes nothing; limits apply to imported rows like to others. Tables: `imports`,
//! with their files in the blob store until they end, and `import_sources` (sources of punishments and balances).

mod apply;
mod archive;
mod balances;
mod batch;
mod database;
mod file;
mod findings;
mod forms;
mod input;
mod json_guard;
mod left;
mod luckperms;
mod model;
mod punishments;
mod reader;
mod record;
mod report;
mod routes;
mod run;
mod service;
mod source;
mod sql;
mod store;
#[cfg(test)]
mod testing;
mod text;
mod vanilla;

use crate::component::column::{any_number, any_text, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};

pub use reader::{FILE_KINDS, child_main, read_fuzzed, read_weighed};
pub use run::Imports;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "permissions, punishments and balances from other tools ([import from plugins](../operate/import-from-plugins.md))",
    tags: &[Tag("Imports", "Import permissions, punishments and balances from other tools.")],
    routes: || routes::router().database_only(),
    tables: &[
        TableRule::left("imports").prose(&["notes", "error"]),
        TableRule::moved("import_sources").columns(&[
            text::<255>("source"),
            any_text("source_key"),
            // An amount, or an id.
            any_number("value"),
        ]),
    ],
    errors: &[
        ErrorCode::new("unknown_import", &[404], "No such import."),
        ErrorCode::new("import_running", &[409], "Another import of the network is running."),
    ],
    register: |states, _| {
        states.insert(Imports::default());
        Ok(())
    },
    creations: Some(&left::StartedImports),
    background: run::start,
    ..Component::new(module_path!())
};
