//! Writes a backup while the hub is running.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hub_db::Db;
use tar::Builder;
use tempfile::NamedTempFile;

use crate::archive::backup::files::FileFinder;
use crate::archive::backup::format::{BackupReport, FORMAT, Manifest, read_lines};
use crate::archive::export::{CHUNK_SIZE, append_file, append_json, append_member};
use crate::archive::files::NamedFile;
use crate::archive::format::{MANIFEST, PartHasher, SUMMARY, Summary, chunk_name};
use crate::archive::progress::Counted;
use crate::blobs::{BlobHold, Blobs};
use crate::clock::Clock;
use crate::component::Tables;
use crate::config::Settings;
use crate::ids::Ids;

const ID_LENGTH: usize = 24;
/// Maximum duration of a blob deletion that began before the backup took its hold.
const BLOB_DELETIONS: Duration = Duration::from_secs(1);

/// Backs up the whole hub, as of one moment, to a file that must not exist yet.
pub async fn backup(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    ids: &Ids,
    out: &Path,
) -> anyhow::Result<BackupReport> {
    ensure!(!out.exists(), "{} already exists", out.display());
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable only by its owner: it contains all secrets.
    let file = NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let blobs = Blobs::open(settings, db)?;
    let manifest = Manifest {
        backup_format: FORMAT,
        schema: hub_db::schema_version(),
        backup_id: ids.token(ID_LENGTH),
        made_at: Clock::System.now(),
        has_files: blobs.is_folder(),
    };
    let hold = BlobHold::take(db, &manifest.backup_id).await?;
    tokio::time::sleep(BLOB_DELETIONS).await;
    let written = write(db, module_store, tables, &blobs, &manifest, file).await;
    hold.release().await?;
    let (file, report) = written?;
    file.as_file().sync_all()?;
    file.persist_noclobber(out).map_err(|error| error.error).with_context(|| out.display().to_string())?;
    File::open(folder)?.sync_all()?;
    Ok(report)
}

async fn write(
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    blobs: &Blobs,
    manifest: &Manifest,
    file: NamedTempFile,
) -> anyhow::Result<(NamedTempFile, BackupReport)> {
    let mut hub = db.snapshot().await?;
    let mut modules = module_store.snapshot().await?;
    let mut tar = Builder::new(BufWriter::with_capacity(CHUNK_SIZE, Counted(file)));
    let (mut summary, mut finder, mut files) = (Summary::default(), FileFinder::new(tables), Vec::<NamedFile>::new());
    append_json(&mut tar, MANIFEST, manifest)?;
    for (table, rule) in tables.backed_up() {
        let from = if rule.is_in_module_store { &mut modules } else { &mut hub };
        let (mut lines, mut number) = (Vec::new(), 0);
        let prepare = |row: &mut _| {
            files.extend(finder.find(&table, row)?);
            Ok(())
        };
        let part = read_lines(from, &table, prepare, |line| {
            lines.extend_from_slice(line);
            if lines.len() >= CHUNK_SIZE {
                number += 1;
                append_member(&mut tar, &chunk_name(table.name, number), &lines)?;
                lines.clear();
            }
            Ok(())
        });
        summary.tables.push(part.await.with_context(|| format!("the table {}", table.name))?);
        if !lines.is_empty() {
            append_member(&mut tar, &chunk_name(table.name, number + 1), &lines)?;
        }
    }
    hub.close().await?;
    modules.close().await?;
    let mut hasher = PartHasher::default();
    for file in &files {
        if manifest.has_files {
            let sha256 = append_file(&mut tar, file, blobs).await.with_context(|| file.member_name.clone())?;
            hasher.add(format!("{} {sha256}\n", file.member_name).as_bytes());
        } else {
            hasher.add(format!("{}\n", file.key).as_bytes());
        }
    }
    summary.files = hasher.part("files");
    append_json(&mut tar, SUMMARY, &summary)?;
    let mut buffered = tar.into_inner()?;
    buffered.flush()?;
    let file = buffered.into_inner().map_err(std::io::IntoInnerError::into_error)?.0;
    Ok((file, BackupReport::new(manifest, &summary)))
}
