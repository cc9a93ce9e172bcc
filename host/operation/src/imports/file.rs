//! Uploaded file, on this node's disk while it is read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use crate::app::App;
use crate::blobs::{BlobError, BlobKey, Blobs};
use crate::budget::Allowance;
use crate::imports::balances::PlayerSet;
use crate::imports::findings::Findings;
use crate::imports::model::{Import, ImportKind};
use crate::imports::record::{Category, Item, ParseError, Record, Remark, Sink};
use crate::imports::source::{Form, SourceFile};
use crate::imports::{balances, luckperms, punishments, vanilla};

/// Amounts that one reading of a file may take. Every file is read twice.
pub(super) const ALLOWANCE: Allowance =
    Allowance { bytes: 2 << 30, steps: 8_000_000, memory: 48 << 20, time: Duration::from_secs(120) };

/// Folder of files being read.
pub(super) fn folder(app: &App) -> PathBuf {
    app.settings.data.join("imports")
}

/// Copies a file from the blob store; none if it was deleted.
pub(super) async fn fetch(app: &App, key: &BlobKey) -> Result<Option<NamedTempFile>, BlobError> {
    let Some(blob) = app.state::<Blobs>().get(key).await? else { return Ok(None) };
    let folder = folder(app);
    let file = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&folder)?;
        NamedTempFile::new_in(folder)
    });
    let file = file.await??;
    let mut to = tokio::fs::File::from_std(file.reopen()?);
    let mut bytes = blob.stream();
    while let Some(chunk) = bytes.next().await {
        to.write_all(&chunk?).await?;
    }
    to.flush().await?;
    Ok(Some(file))
}

/// Reads a file on a thread that may block. Findings of this reading are put into `findings`, those of an earlier one
/// are `known`.
pub(super) fn read(
    path: &Path,
    import: &Import,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let file = SourceFile::new(path)?;
    let now = import.created_at;
    match import.kind {
        ImportKind::LuckPerms => luckperms::read(file.text(sink)?, now, known, sink),
        ImportKind::Vanilla => vanilla::read(file.text(sink)?, now, sink),
        ImportKind::LiteBans | ImportKind::AdvancedBan | ImportKind::LibertyBans | ImportKind::BanManager => {
            punishments::read(&file, import, known, findings, sink)
        }
        ImportKind::Balances | ImportKind::PlayerPoints | ImportKind::XConomy => {
            let budget = sink.budget();
            let mut seen = PlayerSet::default();
            let mut first_of_each = |mut item: Item| {
                if let Record::Balance { player, .. } = item.record
                    && !seen.insert(player, budget).map_err(ParseError::exhausted)?
                {
                    item.record = Record::Skipped(Category::Balances);
                    let reason = "The file names the player twice; the first amount counts.";
                    item.notes = vec![Remark::new(format_args!("player {player}"), reason)];
                }
                sink.send(item)
            };
            read_balances(&file, import, known, findings, &mut Sink::new(budget, &mut first_of_each))
        }
    }
}

fn read_balances(
    file: &SourceFile<'_>,
    import: &Import,
    known: &Findings,
    findings: &mut Findings,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    match import.kind {
        ImportKind::PlayerPoints => balances::read_player_points(file, &import.options, sink),
        ImportKind::XConomy => balances::read_xconomy(file, &import.options, sink),
        _ if file.form == Form::Zip => balances::read_essentials(file.raw()?, sink),
        _ => balances::read_table(file.text(sink)?, known.numbers, &mut findings.numbers, sink),
    }
}
