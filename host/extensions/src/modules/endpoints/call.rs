//! One call of an endpoint: runs the module, and commits what it answered.

use std::sync::Arc;

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use hub_db::{AmbientOutcome, OnBegin, Tx};
use hub_sandbox::contract::endpoints::{Request, Response};
use hub_sandbox::contract::state::StateChanges;
use hub_sandbox::contract::{CallContext, Cause, Point};
use hub_sandbox::{AnswerRequest, Answered, AnyInput, Call, CallFailure, CallReport, Link};

use super::key::RequestKey;
use super::message::{answer_of, kept_form};
use super::state::ServedEndpoint;
use super::store::{self, KeptAnswer, KeyOf};
use crate::app::App;
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::http::error::{ApiError, ErrorDetails};
use crate::limits;
use crate::modules::Modules;
use crate::modules::applying::{self, CallEffects, NotCommitted, PreparedEffect, RefusedEffect, change_state};
use crate::modules::handlers::{EventCause, HandledEvent, Handlers, ModuleActor, is_unchanged};
use crate::modules::records::RecordedStep;
use crate::modules::service;
use crate::values::NetworkId;

/// Runs of a call that may conflict with others before it runs alone.
const RUNS_BESIDE_OTHERS: u32 = 5;
/// Runs of a call in all.
const MAX_RUNS: u32 = 50;

/// A request that passed all checks, and the endpoint that answers it.
pub(super) struct EndpointCall<'a> {
    pub(super) app: &'a App,
    pub(super) network: NetworkId,
    pub(super) served: &'a ServedEndpoint,
    pub(super) link: &'a Arc<Link>,
    pub(super) request: Arc<Request>,
    pub(super) key: Option<&'a RequestKey>,
}

/// Outcome of a call.
pub(super) enum Ended {
    Answer(Response),
    /// Another node answered a request with this key first.
    AnsweredBefore,
}

impl EndpointCall<'_> {
    /// The row of the kept answer.
    pub(super) fn key_of<'a>(&'a self, key: &'a RequestKey) -> KeyOf<'a> {
        let endpoint = &self.served.endpoint.name;
        KeyOf { network: self.network, module: &self.served.module, endpoint, key: &key.sha256 }
    }

    /// Calls the module until its call is committed.
    pub(super) async fn run(&self) -> Result<Ended, ApiError> {
        let started = self.app.clock.now();
        let context = self.context(started);
        let figures = self.app.state::<Handlers>().network(self.network).module(&self.served.module);
        let mut beside = Some(figures.alone.read().await);
        let mut alone = None;
        for run in 0..MAX_RUNS {
            if run == RUNS_BESIDE_OTHERS {
                drop(beside.take());
                alone = Some(figures.alone.write().await);
            }
            if !limits::has_module_time(self.app, self.network).await {
                let message = "This network's modules have used up their computing time; try again.";
                return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(1));
            }
            let sandbox = &self.app.state::<Modules>().sandbox;
            let called = sandbox.call_link::<AnswerRequest>(self.link, context.clone(), Arc::clone(&self.request));
            let Some((report, opening)) = called.await else { return Err(unavailable()) };
            if let Some(opening) = &opening {
                let call = to_call(&context);
                service::report_opening(self.app, self.network, Point::Endpoints, self.link, &call, opening);
            }
            self.record(&context, &report).await;
            match self.judge(&context, report, started).await {
                Ok(response) => return Ok(Ended::Answer(response)),
                Err(NotCommitted::Conflict) => {}
                Err(NotCommitted::Gone) => return Ok(Ended::AnsweredBefore),
                Err(reason) => return Err(self.refusal(reason)),
            }
        }
        drop((beside, alone));
        let message = "The module's state changed again and again while it ran; try again.";
        Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "try_again", message).retry_after(1))
    }

    /// Equal in all runs.
    fn context(&self, started: Millis) -> CallContext {
        let config = self.link.config();
        let call_id = self.app.ids.token(16);
        CallContext {
            root_id: call_id.clone(),
            call_id,
            network_id: self.network.to_string(),
            now_ms: u64::try_from(started).unwrap_or(0),
            seed: self.app.ids.seed(),
            config: config.config.clone(),
            version: u32::try_from(config.version).unwrap_or(u32::MAX),
            attempt: 1,
            ..CallContext::default()
        }
    }

    /// Meters, logs and records a call.
    async fn record(&self, context: &CallContext, report: &CallReport<Answered>) {
        let (app, network) = (self.app, self.network);
        service::meter(app, network, Point::Endpoints, report).await;
        let (config, call) = (self.link.config(), to_call(context));
        app.state::<Modules>().logs.add(network, Point::Endpoints, config, &call, report);
        let failed = !matches!(&report.result, Ok(Answered { answer: Ok(_), .. }));
        if failed || service::take_sample(app, network, Point::Endpoints) {
            let input = AnyInput::Request(Arc::clone(&self.request));
            let step = RecordedStep {
                link: Arc::clone(config),
                input: input.clone(),
                limits: self.link.limits(),
                report: Some(report.clone().map(Into::into)),
            };
            service::record_alone(app, network, call, input, vec![step]);
        }
    }

    /// Commits what the module answered, or says why nothing was.
    async fn judge(
        &self,
        context: &CallContext,
        report: CallReport<Answered>,
        started: Millis,
    ) -> Result<Response, NotCommitted> {
        let Answered { answer, state } = match report.result {
            Ok(answered) => answered,
            Err(CallFailure::Late(_)) => {
                return Err(NotCommitted::Failed { code: "module_late", message: String::new() });
            }
            Err(_) => return Err(NotCommitted::Failed { code: "module_failed", message: String::new() }),
        };
        let (app, network) = (self.app, self.network);
        let response = match answer {
            Ok(response) => response,
            // It may rest on what has changed meanwhile.
            Err(_) if !is_unchanged(app, network, &self.served.module, &state).await? => {
                return Err(NotCommitted::Conflict);
            }
            Err(_) => return Err(NotCommitted::Failed { code: "module_failed", message: String::new() }),
        };
        if self.key.is_some() || !response.effects.is_empty() || !state.writes.is_empty() {
            self.commit(context, &response, &state, started).await?;
        } else if state.reads.len() > 1 && !is_unchanged(app, network, &self.served.module, &state).await? {
            // A single read is of one moment.
            return Err(NotCommitted::Conflict);
        }
        Ok(response)
    }

    async fn commit(
        &self,
        context: &CallContext,
        response: &Response,
        state: &StateChanges,
        started: Millis,
    ) -> Result<(), NotCommitted> {
        let (app, network) = (self.app, self.network);
        let actor = ModuleActor {
            name: self.served.module.clone(),
            version: self.served.version,
            call_id: context.call_id.clone(),
            grants: self.served.grants.clone(),
        };
        let handled = HandledEvent { name: "", data: "{}" };
        let effects = &response.effects;
        let prepared = applying::prepare(app, network, &actor, handled, effects).await?;
        let cause = EventCause {
            call: Cause {
                call_id: context.call_id.clone(),
                event_id: None,
                module: actor.name.clone(),
                version: context.version,
            },
            depth: 1,
            root_id: context.root_id.clone(),
        };
        let cause: Arc<str> = serde_json::to_string(&cause).unwrap_or_default().into();
        let kept = self.key.map(|key| (key, kept_form(response, key.fingerprint.clone())));
        let kept = kept.as_ref().map(|(key, kept)| (*key, kept));
        let _ordered = app.state::<Modules>().effects.order(app, network, effects).await;
        let on_begin: OnBegin = Arc::new(|_| async { Ok(true) }.boxed());
        let work = || async {
            app.db.transaction(async |mut tx| self.begin(&mut tx, &actor, kept, state, started).await).await?;
            let prepared: &[PreparedEffect] = &prepared;
            let effects = CallEffects { network, actor: &actor, effects, prepared, cause: Arc::clone(&cause) };
            applying::apply(app, &effects).await
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

    /// Keeps the answer under the owner's lease and by the grants of now, then checks and changes the state.
    async fn begin(
        &self,
        tx: &mut Tx,
        actor: &ModuleActor,
        kept: Option<(&RequestKey, &KeptAnswer)>,
        state: &StateChanges,
        started: Millis,
    ) -> Result<(), NotCommitted> {
        let (app, network) = (self.app, self.network);
        if !app.state::<ShardRegistry>().lock_work(tx, network).await? {
            return Err(NotCommitted::Moved);
        }
        applying::still_granted(app, network, Point::Endpoints, actor)?;
        if let Some((key, answer)) = kept {
            let expires_at = app.clock.now() + millis(key.ttl);
            if !store::insert(tx, self.key_of(key), answer, expires_at, app.clock.cutoff()).await? {
                return Err(NotCommitted::Gone);
            }
        }
        change_state(app, tx, network, &self.served.module, state, started).await
    }

    /// Says that a call failed; the reason is in the module's log, and is none of its callers' business.
    fn refusal(&self, reason: NotCommitted) -> ApiError {
        let ServedEndpoint { module, version, .. } = self.served;
        match reason {
            NotCommitted::Refused(RefusedEffect { effect, code, message }) => {
                let details = ErrorDetails { effect, reason: Some(code.into()), ..ErrorDetails::default() };
                let message = format!("The hub refuses what `{module}` asks for: {message}");
                ApiError::new(StatusCode::BAD_GATEWAY, "refused_effect", message).details(details)
            }
            NotCommitted::Failed { code: "module_late", .. } => {
                let message = format!("`{module}` did not answer in time.");
                ApiError::new(StatusCode::GATEWAY_TIMEOUT, "module_late", message)
            }
            NotCommitted::Failed { .. } => {
                let message = format!("`{module}` failed; its owner finds the reason in its log.");
                ApiError::new(StatusCode::BAD_GATEWAY, "module_failed", message)
            }
            NotCommitted::Moved => {
                let message = "This network is moving to another of the hub's nodes; try again.";
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "moved", message).retry_after(1)
            }
            NotCommitted::Unavailable(why) => {
                tracing::warn!(network = %self.network, module, version, why, "an endpoint's call was not committed");
                let message = "The hub could not commit the request; try again.";
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "try_again", message).retry_after(1)
            }
            NotCommitted::Conflict | NotCommitted::Gone => unavailable(),
        }
    }
}

/// The module cannot be called now.
pub(super) fn unavailable() -> ApiError {
    let message = "The module is not available right now; try again.";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "module_unavailable", message).retry_after(5)
}

/// The kept answer to a request.
pub(super) fn repeat(kept: &KeptAnswer, key: &RequestKey) -> Result<Response, ApiError> {
    if key.fingerprint.as_ref().is_some_and(|fingerprint| *fingerprint != kept.fingerprint) {
        return Err(ApiError::bad_request(
            "idempotency_mismatch",
            "This Idempotency-Key was used for another path or body in the last 24 hours; use a new key for a new \
             request.",
        ));
    }
    Ok(answer_of(kept))
}

fn to_call(context: &CallContext) -> Call {
    Call {
        call_id: context.call_id.clone(),
        network_id: context.network_id.clone(),
        now_ms: context.now_ms,
        seed: context.seed,
    }
}
