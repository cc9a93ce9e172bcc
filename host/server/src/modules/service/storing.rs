//! Storing versions.

use std::time::Duration;

use bytes::Bytes;
use hub_sandbox::{PrepareError, Prepared};
use tokio::sync::oneshot;

use crate::app::App;
use crate::clock::millis;
use crate::modules::model::{ModuleName, ModuleRow, ModuleState, Points};
use crate::modules::service::error::ModulesError;
use crate::modules::store::pieces::{self, Part, Whose};
use crate::modules::store::versions::{self as store, NewVersion, Verdict};
use crate::values::NetworkId;

/// Pieces without a version that are older than this were left behind by a hub that was killed.
const LEFT_BEHIND_AFTER: Duration = Duration::from_hours(1);

/// What is to be recorded about a prepared upload; fails where the hub did.
pub(super) fn evaluate(outcome: Result<Prepared, PrepareError>) -> Result<(Verdict, Option<Bytes>), ModulesError> {
    match outcome {
        Ok(prepared) => {
            let wrapped = prepared.id != prepared.sha256;
            let verdict = Verdict {
                state: ModuleState::Ready,
                component_id: Some(prepared.id.to_string()),
                points: Points(prepared.points),
                world_version: Some(prepared.world_version),
                reason: None,
            };
            Ok((verdict, wrapped.then_some(prepared.component)))
        }
        Err(PrepareError::Invalid(reason)) => {
            let verdict = Verdict {
                state: ModuleState::Rejected,
                component_id: None,
                points: Points::default(),
                world_version: None,
                // It may quote the module, which may hold anything; PostgreSQL's text can't.
                reason: Some(reason.replace('\0', "\u{fffd}").trim_end_matches('.').to_owned()),
            };
            Ok((verdict, None))
        }
        Err(PrepareError::Internal(reason)) => Err(ModulesError::Sandbox(reason)),
    }
}

/// A stored version, or the one that has the same bytes already.
pub(super) enum Inserted {
    New(ModuleRow),
    Known(ModuleRow),
}

/// Stores a version, settled or still COMPILING.
pub(super) async fn insert(
    app: &App,
    network: NetworkId,
    name: &ModuleName,
    sha256: String,
    bytes: &Bytes,
    settled: Option<(Verdict, Option<Bytes>)>,
) -> Result<Inserted, ModulesError> {
    let now = app.clock.now();
    let (verdict, component) = settled.unzip();
    let component = component.flatten();
    let in_pieces = pieces::needed(bytes) || component.as_ref().is_some_and(|bytes| pieces::needed(bytes));
    let begun = if in_pieces {
        Some(begin(app, network, name.as_str().to_owned(), bytes.clone(), component.clone()).await?)
    } else {
        None
    };
    let inserted = app
        .db
        .transaction(async |mut tx| {
            let version = match begun {
                Some(version) => {
                    store::lock_name(&mut tx, network, name.as_str()).await?;
                    version
                }
                None => store::next_version(&mut tx, network, name.as_str()).await?,
            };
            // Somebody else may have uploaded the same meanwhile; nothing of this is kept then.
            if let Some(same) = store::find_same_in(&mut tx, network, name.as_str(), &sha256).await? {
                return Err(Insert::Same(Box::new(same)));
            }
            let new = NewVersion {
                name: name.as_str().to_owned(),
                version,
                sha256: sha256.clone(),
                size_bytes: bytes.len() as i64,
                created_at: now,
            };
            store::insert(&mut tx, network, &new, bytes).await?;
            let Some(verdict) = verdict.clone() else { return Ok(compiling(new)) };
            let row = store::settle(&mut tx, network, name.as_str(), version, verdict, component.as_deref()).await?;
            row.ok_or(hub_db::Error::NotFound.into())
        })
        .await;
    match inserted {
        Ok(row) => Ok(Inserted::New(row)),
        Err(Insert::Same(row)) => {
            if let Some(version) = begun {
                delete_blob(app, network, name.as_str().to_owned(), version);
            }
            Ok(Inserted::Known(*row))
        }
        // Whether it was committed after all is not always known, so what there is in pieces stays until they are swept.
        Err(Insert::Failed(error)) => Err(error),
    }
}

/// Takes a number for a version and stores the bytes that need pieces under it. Nothing tells of it yet. When its caller goes
/// away meanwhile, it is stopped and undone.
///
/// It has a task of its own: what it writes is no part of what its caller may be about to commit in one go, which would be
/// all of it at once again.
async fn begin(
    app: &App,
    network: NetworkId,
    name: String,
    upload: Bytes,
    component: Option<Bytes>,
) -> Result<i64, ModulesError> {
    let (asked, begun) = oneshot::channel();
    let app = app.clone();
    tokio::spawn(async move {
        let version = match number(&app, network, &name).await {
            Ok(version) => version,
            Err(error) => {
                // Whoever asked may have gone.
                let _ = asked.send(Err(error));
                return;
            }
        };
        let whose = Whose { network, name: &name, version };
        let stored = put(&app, whose, &upload, component.as_ref(), || !asked.is_closed()).await;
        let failed = stored.is_err();
        if asked.send(stored.map(|()| version)).is_err() || failed {
            delete_blob(&app, network, name, version);
        }
    });
    begun.await.map_err(|error| ModulesError::Sandbox(error.to_string()))?
}

/// The name's next number. First, what a killed hub left behind of this network's is swept.
async fn number(app: &App, network: NetworkId, name: &str) -> Result<i64, ModulesError> {
    let before = app.clock.now() - millis(LEFT_BEHIND_AFTER);
    for (name, version) in pieces::left_behind(&app.db, network, before).await? {
        pieces::delete(&app.db, Whose { network, name: &name, version }).await?;
    }
    Ok(app.db.transaction(async |mut tx| store::next_version(&mut tx, network, name).await).await?)
}

/// Stores what of a version needs it in pieces, as long as it is wanted.
async fn put(
    app: &App,
    whose: Whose<'_>,
    upload: &Bytes,
    component: Option<&Bytes>,
    wanted: impl Fn() -> bool,
) -> Result<(), ModulesError> {
    let (turns, now) = (&app.modules.storing, app.clock.now());
    pieces::put(&app.db, turns, whose, Part::Upload, upload, now, &wanted).await?;
    if let Some(component) = component {
        pieces::put(&app.db, turns, whose, Part::Component, component, now, &wanted).await?;
    }
    Ok(())
}

/// Deletes the pieces of a version that there is not, or no longer, behind whoever asked for it.
pub(super) fn delete_blob(app: &App, network: NetworkId, name: String, version: i64) {
    let task = app.clone();
    app.spawn(async move {
        if let Err(error) = pieces::delete(&task.db, Whose { network, name: &name, version }).await {
            // The next upload of its network that needs pieces tries again.
            tracing::warn!(module = name, version, %error, "bytes of a module could not be deleted");
        }
    });
}

/// Why a version was not inserted.
enum Insert {
    Same(Box<ModuleRow>),
    Failed(ModulesError),
}

impl<E: Into<ModulesError>> From<E> for Insert {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn compiling(new: NewVersion) -> ModuleRow {
    ModuleRow {
        name: new.name,
        version: new.version,
        sha256: new.sha256,
        component_id: None,
        size_bytes: new.size_bytes,
        points: Points::default(),
        world_version: None,
        state: ModuleState::Compiling,
        reason: None,
        created_at: new.created_at,
    }
}

/// Records the outcome of a COMPILING version.
pub(super) async fn record_outcome(
    app: &App,
    network: NetworkId,
    name: &str,
    version: i64,
    outcome: Result<Prepared, PrepareError>,
) -> Result<(), ModulesError> {
    let (verdict, component) = evaluate(outcome)?;
    if let Some(component) = &component {
        let (turns, whose) = (&app.modules.storing, Whose { network, name, version });
        pieces::put(&app.db, turns, whose, Part::Component, component, app.clock.now(), || true).await?;
    }
    app.db
        .transaction(async |mut tx| {
            store::settle(&mut tx, network, name, version, verdict.clone(), component.as_deref()).await?;
            Ok(())
        })
        .await
}
