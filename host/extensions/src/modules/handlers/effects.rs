//! Effects of modules, applied by the components that own what they change.

use std::any::Any;
use std::fmt::Display;
use std::str::FromStr;

use futures_util::future::BoxFuture;
use hub_sandbox::contract::effects::{Action, Effect};
use hub_sandbox::manifest::Grants;

use crate::app::App;
use crate::auth::{ActorType, Origin};
use crate::http::error::ApiError;
use crate::values::{NetworkId, PlayerId, Text};

/// The module in whose name an effect is applied.
#[derive(Clone, Debug)]
pub struct ModuleActor {
    pub name: String,
    pub version: i64,
    /// Id of the call.
    pub call_id: String,
    pub grants: Grants,
}

impl ModuleActor {
    /// Origin of its changes, for the audit log.
    pub fn origin(&self, app: &App) -> Origin {
        let name = format!("{} v{}", self.name, self.version);
        let origin = Origin::system(app, &name);
        let actor = crate::auth::Actor { kind: ActorType::Module, id: self.name.clone(), name };
        Origin { actor, request_id: Some(self.call_id.clone()), ..origin }
    }

    /// Name of the actor where a key has its id.
    pub fn key(&self) -> String {
        format!("module:{}", self.name)
    }
}

/// The event that a module handles.
#[derive(Clone, Copy, Debug)]
pub struct HandledEvent<'a> {
    pub name: &'a str,
    /// JSON.
    pub data: &'a str,
}

/// Reads a field of an effect, as the same field of a request.
pub fn read_field<T: FromStr<Err: Display>>(field: &str, text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|reason| ApiError::invalid(format!("`{field}`: {reason}.")))
}

/// Reads a text of an effect that may have up to `MAX` characters.
pub fn read_text<const MAX: usize>(field: &str, text: &str) -> Result<String, ApiError> {
    let text = Text::<MAX>::try_from(text.to_owned());
    text.map(Text::into_string).map_err(|reason| ApiError::invalid(format!("`{field}`: {reason}.")))
}

/// Part of an effect that was made before its transaction, such as what other modules said about it.
pub type Prepared = Box<dyn Any + Send + Sync>;

/// Applies effects. A refusal has the code and the message of the same request.
pub trait ModuleEffects: Send + Sync {
    /// Orders the effects of a call, until the answer is dropped, with what the database does not order.
    fn order<'a>(&'a self, app: &'a App, network: NetworkId, effects: &'a [Effect]) -> BoxFuture<'a, Prepared>;

    /// Does what must be done before the transaction, which waits for nothing but the database.
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        actor: &'a ModuleActor,
        event: HandledEvent<'a>,
        action: &'a Action,
    ) -> BoxFuture<'a, Result<Option<Prepared>, ApiError>>;

    /// Applies an effect by the usual services, whose writes join the caller's transaction.
    fn apply<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        actor: &'a ModuleActor,
        action: &'a Action,
        prepared: Option<&'a Prepared>,
    ) -> BoxFuture<'a, Result<(), ApiError>>;

    /// Server that a player is on.
    fn server_of(&self, app: &App, network: NetworkId, player: PlayerId) -> Option<String>;
}
