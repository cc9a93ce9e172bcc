//! Commits a call: its effects, its writes to the state, and the end of its event, in one transaction.

use std::sync::Arc;

use futures_util::FutureExt as _;
use hub_db::{AmbientOutcome, Error, OnBegin, Tx};
use hub_sandbox::contract::Point;
use hub_sandbox::contract::effects::Effect;
use hub_sandbox::contract::state::StateChanges;

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::modules::applying::{
    CallEffects, NotCommitted, PreparedEffect, apply, change_state, refused, still_granted,
};
use crate::modules::handlers::effects::ModuleActor;
use crate::modules::handlers::model::QueuedEvent;
use crate::modules::handlers::schedules;
use crate::modules::handlers::store::{cascades, dead_letters, handlers, queue, timers};
use crate::values::NetworkId;

/// Maximum number of effects, and of events, that one first event may lead to by calls of modules.
const MAX_CASCADE: i64 = 1_000;

/// Row that ends with the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Queue,
    DeadLetter(i64),
    Tick,
    Timer,
}

/// A call to commit.
pub(super) struct CommittedCall<'a> {
    pub(super) network: NetworkId,
    pub(super) point: Point,
    pub(super) source: Source,
    /// Number of this attempt.
    pub(super) attempts: i64,
    pub(super) event: &'a QueuedEvent,
    pub(super) actor: &'a ModuleActor,
    /// Time of the call.
    pub(super) now: Millis,
    pub(super) state: &'a StateChanges,
    pub(super) effects: &'a [Effect],
    pub(super) prepared: &'a [PreparedEffect],
    /// JSON of the cause of the events that it publishes.
    pub(super) cause: Arc<str>,
}

/// Commits a call, or nothing of it.
pub(super) async fn commit(app: &App, call: &CommittedCall<'_>) -> Result<(), NotCommitted> {
    let on_begin: OnBegin = Arc::new(|_| async { Ok(true) }.boxed());
    let work = || async {
        app.db.transaction(async |mut tx| begin(app, &mut tx, call).await).await?;
        let effects = CallEffects {
            network: call.network,
            actor: call.actor,
            effects: call.effects,
            prepared: call.prepared,
            cause: Arc::clone(&call.cause),
        };
        apply(app, &effects).await
    };
    let ended = app.db.ambient_transaction(on_begin, work, |_, result: &Result<(), NotCommitted>| {
        let is_good = result.is_ok();
        async move { Ok(is_good) }.boxed()
    });
    match ended.await? {
        AmbientOutcome::Finished(result) | AmbientOutcome::NotBegun(result) => result,
        AmbientOutcome::Cancelled => Err(NotCommitted::Unavailable("the transaction did not begin".to_owned())),
    }
}

/// Ends the event's row under the owner's lease, then checks and changes the state.
async fn begin(app: &App, tx: &mut Tx, call: &CommittedCall<'_>) -> Result<(), NotCommitted> {
    let (network, module) = (call.network, call.actor.name.as_str());
    if !app.state::<ShardRegistry>().lock_work(tx, network).await? {
        return Err(NotCommitted::Moved);
    }
    still_granted(app, network, call.point, call.actor)?;
    if !end_of_call(app, tx, call).await? {
        return Err(NotCommitted::Gone);
    }
    if !call.effects.is_empty() && call.event.depth > 0 {
        let added = (call.effects.len() as i64, 0);
        let (effects, events) = cascades::add(tx, network, &call.event.root_id, added, app.clock.now()).await?;
        if effects > MAX_CASCADE || events > MAX_CASCADE {
            let message = format!("one event led to more than {MAX_CASCADE} effects or events");
            return Err(refused(None, "cascade_limit", message));
        }
    }
    change_state(app, tx, network, module, call.state, call.now).await
}

/// Ends what the call was made for; false if it is not there.
async fn end_of_call(app: &App, tx: &mut Tx, call: &CommittedCall<'_>) -> Result<bool, Error> {
    let (network, module) = (call.network, call.actor.name.as_str());
    let of = (module, call.event.name.as_str(), call.event.seq);
    match call.source {
        Source::Queue | Source::DeadLetter(_) => end(tx, network, module, call.source, call.event.seq).await,
        Source::Tick => {
            let effects = i64::try_from(call.effects.len()).unwrap_or(0);
            let success = schedules::TickEnd { attempts: call.attempts, effects, code: None };
            schedules::end_tick(tx, network, of, success, app.clock.now()).await
        }
        Source::Timer => timers::end(tx, network, of).await,
    }
}

/// Deletes the row of an event, and the event if no other handler waits for it. False if the row is not there.
pub(super) async fn end(
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    source: Source,
    seq: i64,
) -> Result<bool, Error> {
    if let Source::DeadLetter(id) = source {
        return dead_letters::delete(tx, network, module, id).await;
    }
    if !queue::take(tx, network, module, seq).await? {
        return Ok(false);
    }
    if !queue::has_event(tx, network, seq).await? {
        // It was erased with its player while the call ran.
        return Ok(false);
    }
    let others = handlers::list(&mut *tx, network).await?.into_iter().map(|row| row.module);
    let others: Vec<_> = others.filter(|other| other != module).collect();
    queue::delete_event(tx, network, (seq, &others)).await?;
    Ok(true)
}
