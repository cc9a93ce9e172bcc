//! Reading of files in this process, fuzzed or weighed ones: what the child does after it is confined.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use hub_sandbox::confined::ProcessLimits;

use super::ReadRequest;
use super::parse::parse;
use crate::budget::{Allowance, Budget};
use crate::imports::findings::Findings;
use crate::imports::model::{ImportKind, ImportOptions, Scopes};
use crate::imports::record::{Item, ParseError, Sink};
use crate::imports::source::SourceFile;

/// Kinds of files.
pub const FILE_KINDS: [&str; 9] = [
    "LUCKPERMS",
    "LITEBANS",
    "BALANCES",
    "VANILLA",
    "ADVANCEDBAN",
    "LIBERTYBANS",
    "BANMANAGER",
    "PLAYERPOINTS",
    "XCONOMY",
];

/// Amounts that the reading of a fuzzed file may take: a small one needs little.
const SMALL: Allowance = Allowance { bytes: 16 << 20, steps: 200_000, memory: 8 << 20, time: Duration::from_secs(10) };

/// Reads a small file of a kind twice, as an import does. Returns the number of its records, or the reason against it.
pub fn read_fuzzed(kind: &str, path: &Path, now: i64) -> Result<u64, String> {
    read(kind, path, now, SMALL)
}

/// The same for a file of any size, within the amounts that an import may take.
pub fn read_weighed(kind: &str, path: &Path, now: i64) -> Result<u64, String> {
    read(kind, path, now, super::child::ALLOWANCE)
}

fn read(kind: &str, path: &Path, now: i64, allowance: Allowance) -> Result<u64, String> {
    let kind: ImportKind = kind.parse().map_err(|_| format!("unknown kind {kind}"))?;
    let currency = "coins".parse().ok().filter(|_| kind.has_balances());
    let options = ImportOptions { currency, prefix: kind.default_prefix().to_owned(), scopes: Scopes::default() };
    let request = ReadRequest {
        limits: ProcessLimits { memory_bytes: 0, cpu_seconds: 0 },
        file: path.to_owned(),
        kind,
        options,
        created_at: now,
        records: 1_000_000,
        done: 0,
    };
    let file = File::open(path).map_err(|error| error.to_string())?;
    let file = SourceFile::new(path, file).map_err(|error| told(&error))?;
    let (mut findings, mut records) = (Findings::default(), 0);
    for _ in 0..2 {
        let (budget, mut noted) = (Budget::begin(allowance), Findings::default());
        records = 0;
        let mut receive = |item: Item| -> Result<(), ParseError> {
            noted.note(&item.record, &budget);
            // Records pass a pipe on their way to the hub.
            let line = serde_json::to_string(&item).map_err(|error| ParseError::whole(error.to_string()))?;
            let _: Item = serde_json::from_str(&line).map_err(|error| ParseError::whole(error.to_string()))?;
            records += 1;
            Ok(())
        };
        let mut found = Findings::default();
        parse(&file, &request, &findings, &mut found, &mut Sink::new(&budget, &mut receive))
            .map_err(|error| told(&error))?;
        found.complete(noted);
        findings = found;
    }
    Ok(records)
}

fn told(error: &ParseError) -> String {
    match error {
        ParseError::Wrong { line, message } => format!("{line:?}: {message}"),
        ParseError::Stopped => "stopped".to_owned(),
    }
}
