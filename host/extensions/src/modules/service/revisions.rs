//! Revisions of chains: the kept ones, and the check that a change was made from the current one.

use hub_db::Executor;
use hub_sandbox::contract::Point;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Actor;
use crate::auth::Scope;
use crate::clock::Millis;
use crate::http::error::ChangedValue;
use crate::modules::model::{LinkSpec, RevisionRow};
use crate::modules::service::chains::ChainCaller;
use crate::modules::service::error::ModulesError;
use crate::modules::store::{chains, revisions as store};
use crate::values::NetworkId;

/// A kept chain.
#[derive(Debug)]
pub(in crate::modules) struct KeptChain {
    pub(in crate::modules) revision: i64,
    pub(in crate::modules) specs: Vec<LinkSpec>,
    pub(in crate::modules) actor: Actor,
    pub(in crate::modules) at: Millis,
}

impl TryFrom<RevisionRow> for KeptChain {
    type Error = serde_json::Error;

    fn try_from(row: RevisionRow) -> Result<Self, serde_json::Error> {
        let (specs, actor) = (serde_json::from_str(&row.chain)?, serde_json::from_str(&row.actor)?);
        Ok(Self { revision: row.revision, specs, actor, at: row.created_at })
    }
}

/// Kept revisions of a point, newest first, with their number.
pub(in crate::modules) async fn list(
    app: &App,
    network: NetworkId,
    point: Point,
    place: (i64, i64),
) -> Result<(Vec<KeptChain>, i64), ModulesError> {
    let (rows, total) = store::list(&app.db, network, point.name(), place).await?;
    Ok((rows.into_iter().map(KeptChain::try_from).collect::<Result<_, _>>()?, total))
}

/// One of them.
pub(in crate::modules) async fn find(
    app: &App,
    network: NetworkId,
    point: Point,
    revision: i64,
) -> Result<KeptChain, ModulesError> {
    let row = store::find(&app.db, network, point.name(), revision).await?;
    Ok(row.ok_or(ModulesError::UnknownRevision(revision, point))?.try_into()?)
}

/// Refuses a change that was made from another revision than the current one, with both chains if the caller may read them.
pub(super) async fn check<'a>(
    on: impl Into<Executor<'a>>,
    network: NetworkId,
    point: Point,
    caller: &ChainCaller,
) -> Result<(), ModulesError> {
    let Some(expected) = caller.expected else { return Ok(()) };
    let mut on = on.into();
    let row = chains::find(&mut on, network, point.name()).await?;
    let revision = row.as_ref().map_or(0, |row| row.revision);
    if revision == expected {
        return Ok(());
    }
    if !caller.scopes.allow(Scope::ModulesRead) {
        let changed = ChangedValue { expected, before: None, revision, now: Value::Null };
        return Err(ModulesError::RevisionChanged { point, changed: Box::new(changed) });
    }
    let shown = |chain: &str| Ok::<_, ModulesError>(json!({"modules": serde_json::from_str::<Value>(chain)?}));
    let before = if expected == 0 {
        // There was none yet.
        Some(shown("[]")?)
    } else {
        let kept = store::find(on, network, point.name(), expected).await?;
        kept.map(|kept| shown(&kept.chain)).transpose()?
    };
    let now = shown(row.as_ref().map_or("[]", |row| &row.chain))?;
    Err(ModulesError::RevisionChanged { point, changed: Box::new(ChangedValue { expected, before, revision, now }) })
}
