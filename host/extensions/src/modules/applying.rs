//! Effects of one call: prepared before its transaction, and applied in it.

use std::sync::Arc;

use hub_db::{Error, Tx};
use hub_sandbox::contract::Point;
use hub_sandbox::contract::effects::{Action, Effect};
use hub_sandbox::contract::state::StateChanges;

use crate::app::App;
use crate::clock::Millis;
use crate::events;
use crate::http::error::ApiError;
use crate::modules::Modules;
use crate::modules::handlers::{
    HandledEvent, ModuleActor, Prepared, StateConflict, cancel_timer, commit_state, publish_emitted, set_timer,
};
use crate::values::NetworkId;

/// Effects of a call, to be applied in the caller's transaction.
pub(super) struct CallEffects<'a> {
    pub(super) network: NetworkId,
    pub(super) actor: &'a ModuleActor,
    pub(super) effects: &'a [Effect],
    pub(super) prepared: &'a [PreparedEffect],
    /// JSON of the cause of the events that they publish.
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
    /// Its event is not there: it was handled, deleted or erased. Or its request was answered meanwhile.
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

/// A refusal of effects or of the state.
pub(super) fn refused(effect: Option<usize>, code: &str, message: String) -> NotCommitted {
    NotCommitted::Refused(RefusedEffect { effect, code: code.to_owned(), message })
}

/// Refusal of an effect with the words of the same request.
fn refused_by(at: usize, effect: &Effect, error: &ApiError) -> NotCommitted {
    refused(Some(at), error.code(), format!("effect {at} ({}): {}", effect.action.name(), error.message()))
}

/// Fails if the owner has changed meanwhile what the module may do: a call under way commits nothing by rights of before.
pub(super) fn still_granted(
    app: &App,
    network: NetworkId,
    point: Point,
    actor: &ModuleActor,
) -> Result<(), NotCommitted> {
    let chain = app.state::<Modules>().network(network).get(point);
    let specs = chain.iter().flat_map(|chain| &chain.specs);
    let mut granted = specs.filter(|spec| spec.name == actor.name).map(|spec| spec.grants.clone().unwrap_or_default());
    if granted.any(|grants| grants == actor.grants) {
        Ok(())
    } else {
        Err(NotCommitted::Unavailable("the module's rights have changed meanwhile".to_owned()))
    }
}

/// Does what must be done before the transaction.
pub(super) async fn prepare(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    handled: HandledEvent<'_>,
    effects: &[Effect],
) -> Result<Vec<PreparedEffect>, NotCommitted> {
    let mut prepared = vec![];
    for (at, effect) in effects.iter().enumerate() {
        let preparing = app.state::<Modules>().effects.prepare(app, network, actor, handled, &effect.action);
        match preparing.await {
            Ok(ready) => prepared.push(PreparedEffect::Ready(ready)),
            Err(error) if error.status().is_server_error() => {
                return Err(NotCommitted::Unavailable(error.message().to_owned()));
            }
            Err(_) if effect.optional => prepared.push(PreparedEffect::LeftOut),
            Err(error) => return Err(refused_by(at, effect, &error)),
        }
    }
    Ok(prepared)
}

/// Applies the effects in their order. A refused one that is optional changes nothing.
pub(super) async fn apply(app: &App, call: &CallEffects<'_>) -> Result<(), NotCommitted> {
    for (at, (effect, prepared)) in call.effects.iter().zip(call.prepared).enumerate() {
        let PreparedEffect::Ready(prepared) = prepared else { continue };
        apply_one(app, call, at, effect, prepared.as_ref()).await?;
    }
    Ok(())
}

async fn apply_one(
    app: &App,
    call: &CallEffects<'_>,
    at: usize,
    effect: &Effect,
    prepared: Option<&Prepared>,
) -> Result<(), NotCommitted> {
    if let Some(scope) = effect.action.scope()
        && !call.actor.grants.scopes.iter().any(|granted| granted == scope)
    {
        let message = format!("the link does not grant the scope `{scope}`");
        return Err(refused(Some(at), "forbidden_scope", message));
    }
    let applying = async {
        match &effect.action {
            Action::Emit(emit) => publish_emitted(app, call.network, call.actor, emit).await,
            Action::SetTimer(timer) => set_timer(app, call.network, call.actor, timer).await,
            Action::CancelTimer(timer) => cancel_timer(app, call.network, call.actor, timer).await,
            action => {
                let effects = app.state::<Modules>().effects;
                effects.apply(app, call.network, call.actor, action, prepared).await
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

/// Checks what a call read of its module's state, and makes its changes.
pub(super) async fn change_state(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    module: &str,
    state: &StateChanges,
    called_at: Millis,
) -> Result<(), NotCommitted> {
    let clock = &app.clock;
    match commit_state(tx, network, module, state, (called_at, clock.now(), clock.cutoff())).await? {
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
