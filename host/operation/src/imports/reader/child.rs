//! The child's side.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::time::Duration;

use hub_sandbox::confined::{restrict_objects, restrict_system_calls};

use super::parse::parse;
use super::{Message, ReadRequest};
use crate::budget::{Allowance, Budget};
use crate::imports::findings::Findings;
use crate::imports::model::ImportFailure;
use crate::imports::record::{Item, ParseError, Sink};
use crate::imports::source::SourceFile;
use crate::limits::Limit;

/// Amounts that one reading of a file may take. Every file is read twice.
pub(super) const ALLOWANCE: Allowance =
    Allowance { bytes: 1 << 30, steps: 8_000_000, memory: 48 << 20, time: Duration::from_secs(120) };
/// Maximum length of a failure reason, in characters: parsers' messages may quote the file.
const LONGEST_MESSAGE: usize = 1_000;
/// Stack of the thread that waits for the hub's end.
const STACK: usize = 64 << 10;

/// Reads the one file that standard input names. This is all that `hub read-import` does; only the hub itself should
/// call it.
///
/// # Errors
/// The pipes break, or the process can't be confined. An invalid file is an answer, not an error.
pub fn child_main(stdin: impl Read + Send + 'static, stdout: impl Write) -> io::Result<()> {
    let mut stdin = BufReader::new(stdin);
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    let request: ReadRequest = serde_json::from_str(&line)?;
    let file = File::open(&request.file)?;
    request.limits.beyond_current_use()?.set()?;
    let confinement = restrict_objects(Some(&file))?;
    // Before the other restriction, which denies opening even this file.
    let file = SourceFile::new(&request.file, file);
    end_with_hub(stdin)?;
    restrict_system_calls()?;
    let mut output = BufWriter::with_capacity(1 << 16, stdout);
    Message::Confined(confinement).write(&mut output)?;
    let end = match file.and_then(|file| read(&file, &request, &mut output)) {
        Ok(()) => Message::Done,
        Err(ParseError::Wrong { line, message }) => Message::Failed(ImportFailure {
            line: line.and_then(|line| i64::try_from(line).ok()),
            message: message.chars().take(LONGEST_MESSAGE).collect(),
        }),
        Err(ParseError::Stopped) => return Err(io::ErrorKind::BrokenPipe.into()),
    };
    end.write(&mut output)?;
    output.flush()
}

/// Ends this process once its standard input is closed.
fn end_with_hub(mut stdin: impl Read + Send + 'static) -> io::Result<()> {
    let wait = move || {
        let _ = io::copy(&mut stdin, &mut io::sink());
        std::process::abort()
    };
    std::thread::Builder::new().name("end-with-hub".into()).stack_size(STACK).spawn(wait).map(drop)
}

fn read(file: &SourceFile, request: &ReadRequest, output: &mut impl Write) -> Result<(), ParseError> {
    let (findings, records) = check(file, request)?;
    let mut send = |message: &Message| message.write(output).map_err(|_| ParseError::Stopped);
    send(&Message::Checked(records))?;
    let mut skip = request.done;
    let mut receive = |item: Item| {
        // Notes on tables have no position; the report has each of them once.
        if skip > 0 && item.record.is_of_file() {
            skip -= 1;
            return Ok(());
        }
        send(&Message::Item(item))
    };
    let budget = Budget::begin(ALLOWANCE);
    parse(file, request, &findings, &mut Findings::default(), &mut Sink::new(&budget, &mut receive))
}

/// Reads the whole file, so that an invalid one changes nothing. Returns what it found and the number of records.
fn check(file: &SourceFile, request: &ReadRequest) -> Result<(Findings, i64), ParseError> {
    let budget = Budget::begin(ALLOWANCE);
    let (mut findings, mut noted, mut records) = (Findings::default(), Findings::default(), 0_i64);
    let mut receive = |item: Item| {
        noted.note(&item.record, &budget);
        records += i64::from(item.record.is_of_file());
        if records > request.records {
            return Err(ParseError::Wrong {
                line: item.line,
                message: format!("The file has more than {} records (`{}`).", request.records, Limit::ImportRecords),
            });
        }
        Ok(())
    };
    parse(file, request, &Findings::default(), &mut findings, &mut Sink::new(&budget, &mut receive))?;
    findings.complete(noted);
    Ok((findings, records))
}
