//! Commits a call: its effects, its writes to the state, and the end of its event, in one transaction.

use std::sync::Arc;

use futures_util::FutureExt as _;
use hub_db::{AmbientOutcome, Error, OnBegin, Tx};
use hub_sandbox::contract::effects::{Action, Effect};
use hub_sandbox::contract::state::StateChanges;

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::events;
use crate::http::error::ApiError;
use crate::modules::Modules;
use crate::modules::handlers::effects::{ModuleActor, Prepared};
use crate::modules::handlers::emitted;
use crate::modules::handlers::model::QueuedEvent;
use crate::modules::handlers::schedules;
use crate::modules::handlers::state::{self, StateConflict};
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

/// Outcome of an effect's preparation.
pub(super) enum PreparedEffect {
    Ready(Option<Prepared>),
    /// It was refused, and is optional.
    LeftOut,
}

/// An effect, or the writes to the state, that the hub refuses.
#[derive(Clone, Debug)]
pub(super) struct RefusedEffect {
    /// Index of the effect; none for the state.
    pub(super) effect: Option<usize>,
    pub(super) code: String,
    pub(super) message: String,
}

/// Reason for which nothing of a call was committed.
#[derive(Debug)]
pub(super) enum NotCommitted {
    Refused(RefusedEffect),
    /// The call itself failed.
    Failed {
        code: &'static str,
        message: String,
    },
    /// Something that it read has changed: it runs again.
    Conflict,
    /// Its event is not there: it was handled, deleted or erased.
    Gone,
    /// Another node owns the network.
    Moved,
    /// The database failed.
    Unavailable(String),
}

impl From<Error> for NotCommitted {
    fn from(error: Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Commits a call, or nothing of it.
pub(super) async fn commit(app: &App, call: &CommittedCall<'_>) -> Result<(), NotCommitted> {
    let on_begin: OnBegin = Arc::new(|_| async { Ok(true) }.boxed());
    let work = || async {
        app.db.transaction(async |mut tx| begin(app, &mut tx, call).await).await?;
        for at in 0..call.effects.len() {
            apply(app, call, at).await?;
        }
        Ok(())
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
    if !app.state::<ShardRegistry>().lock_lease(tx, network).await? {
        return Err(NotCommitted::Moved);
    }
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
    let clock = &app.clock;
    match state::commit(tx, network, module, call.state, (call.now, clock.now(), clock.cutoff())).await? {
        Ok(()) => Ok(()),
        Err(StateConflict::Changed) => Err(NotCommitted::Conflict),
        Err(StateConflict::Full) => Err(refused(None, "quota_exceeded", "the module's state is full".to_owned())),
        Err(StateConflict::NotANumber) => Err(refused(
            None,
            "not_a_number",
            "the value of a key to which the call adds is no whole number".to_owned(),
        )),
    }
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

fn refused(effect: Option<usize>, code: &str, message: String) -> NotCommitted {
    NotCommitted::Refused(RefusedEffect { effect, code: code.to_owned(), message })
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

/// Applies one effect. A refused one that is optional changes nothing.
async fn apply(app: &App, call: &CommittedCall<'_>, at: usize) -> Result<(), NotCommitted> {
    let (Some(effect), Some(PreparedEffect::Ready(prepared))) = (call.effects.get(at), call.prepared.get(at)) else {
        return Ok(());
    };
    if let Some(scope) = effect.action.scope()
        && !call.actor.grants.scopes.iter().any(|granted| granted == scope)
    {
        let message = format!("the link does not grant the scope `{scope}`");
        return Err(refused(Some(at), "forbidden_scope", message));
    }
    let applying = async {
        match &effect.action {
            Action::Emit(emit) => emitted::publish(app, call.network, call.actor, emit).await,
            Action::SetTimer(timer) => schedules::set_timer(app, call.network, call.actor, timer).await,
            Action::CancelTimer(timer) => schedules::cancel_timer(app, call.network, call.actor, timer).await,
            action => {
                let effects = app.state::<Modules>().effects;
                effects.apply(app, call.network, call.actor, action, prepared.as_ref()).await
            }
        }
    };
    match events::caused_by(Arc::clone(&call.cause), applying).await {
        Ok(()) => Ok(()),
        Err(error) if error.status().is_server_error() || error.code() == "rate_limited" => {
            Err(NotCommitted::Unavailable(error.message().to_owned()))
        }
        Err(_) if effect.optional => Ok(()),
        Err(error) => Err(refused_by(at, effect, &error)),
    }
}

/// Refusal of an effect with the words of the same request.
pub(super) fn refused_by(at: usize, effect: &Effect, error: &ApiError) -> NotCommitted {
    let message = format!("effect {at} ({}): {}", effect.action.name(), error.message());
    NotCommitted::Refused(RefusedEffect { effect: Some(at), code: error.code().to_owned(), message })
}
