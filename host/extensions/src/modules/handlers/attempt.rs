//! Attempts at an event, a tick or a timer: calls the module, commits its call, or records the failure.

use std::sync::Arc;
use std::time::Duration;

use hub_db::{Error, Tx};
use hub_sandbox::contract::effects::Effect;
use hub_sandbox::contract::events::Event;
use hub_sandbox::contract::schedules::{Tick, Timer};
use hub_sandbox::contract::state::StateChanges;
use hub_sandbox::contract::{CallContext, Cause, Point};
use hub_sandbox::{AnyInput, BreakerOpening, Call, CallReport, FireTimer, HandleEvent, Handled, Link, RunTick};

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::events::{self, EventKind};
use crate::limits;
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::{DEAD_LETTERS, TICKS};
use crate::modules::Modules;
use crate::modules::applying::{NotCommitted, RefusedEffect, prepare};
use crate::modules::handlers::call_id::{call_of, of_attempt};
use crate::modules::handlers::commit::{CommittedCall, Source, commit, end};
use crate::modules::handlers::dead_letters::DeadLetterEvent;
use crate::modules::handlers::effects::{HandledEvent, ModuleActor};
use crate::modules::handlers::model::{DeadLetterRow, EventCause, LetterKind, QueueRow, QueuedEvent};
use crate::modules::handlers::pauses::{max_attempts, pause};
use crate::modules::handlers::registry::{Handlers, ModuleHandlers};
use crate::modules::handlers::schedules;
use crate::modules::handlers::state;
use crate::modules::handlers::store::{dead_letters, handlers as positions, queue, timers};
use crate::modules::records::RecordedStep;
use crate::modules::service;
use crate::values::NetworkId;

/// Runs of a call that may conflict with others before it runs alone.
const RUNS_BESIDE_OTHERS: u32 = 5;
/// Runs of a call in all.
const MAX_RUNS: u32 = 50;
/// Dead letters of a module.
const MAX_DEAD_LETTERS: i64 = 10_000;
/// Maximum length of a dead letter's message, in characters.
const MAX_MESSAGE: usize = 2_000;
/// Pause while the network has no computing time left.
const NO_TIME_PAUSE: Duration = Duration::from_secs(1);
/// Pause while the module's breaker is open.
const BREAKER_PAUSE: Duration = Duration::from_secs(1);

/// Module that handles an event.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) link: Arc<Link>,
    pub(super) grants: hub_sandbox::manifest::Grants,
    /// Names of its events.
    pub(super) events: Arc<Vec<String>>,
}

/// End of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The event was handled, or is a dead letter, or is gone.
    Done,
    /// The event waits for its next attempt.
    RetryAfter(Duration),
    /// The handler pauses: this was no attempt.
    PauseFor(Duration),
    /// This node no longer hands events of the network over.
    Over,
}

/// An attempt that failed.
struct Failed {
    code: &'static str,
    message: String,
    effect: Option<usize>,
    reason: Option<String>,
}

/// One event, tick or timer, and the module that handles it.
pub(super) struct Attempt<'a> {
    pub(super) app: &'a App,
    pub(super) network: NetworkId,
    pub(super) handler: &'a Handler,
    pub(super) figures: Arc<ModuleHandlers>,
    pub(super) kind: LetterKind,
    pub(super) source: Source,
    pub(super) row: &'a QueueRow,
}

impl Attempt<'_> {
    fn module(&self) -> &str {
        &self.handler.link.config().name
    }

    fn version(&self) -> i64 {
        i64::try_from(self.handler.link.config().version).unwrap_or(i64::MAX)
    }

    fn point(&self) -> Point {
        match self.kind {
            LetterKind::Event | LetterKind::Overflow => Point::Events,
            LetterKind::Tick | LetterKind::Timer => Point::Schedules,
        }
    }

    /// Hands the event over once.
    pub(super) async fn run(&self, event: Option<QueuedEvent>) -> Result<Ended, Error> {
        let Some(event) = event else { return self.drop_row().await };
        if self.source == Source::Queue && !self.handler.events.contains(&event.name) {
            self.figures.count(|counts| counts.skipped += 1);
            return self.drop_row().await;
        }
        if self.source == Source::Queue && self.row.attempts > 0 {
            self.figures.count(|counts| counts.retried += 1);
        }
        let _running = self.figures.begin_call();
        self.run_event(&event).await
    }

    /// Ends the row without a call.
    async fn drop_row(&self) -> Result<Ended, Error> {
        let (network, seq) = (self.network, self.row.seq);
        let is_owner = self
            .app
            .db
            .transaction(async |mut tx| {
                if !self.app.state::<ShardRegistry>().lock_work(&mut tx, network).await? {
                    return Ok::<_, Error>(false);
                }
                end(&mut tx, network, self.module(), self.source, seq).await?;
                Ok(true)
            })
            .await?;
        self.app.state::<Handlers>().network(network).shrink_backlog(1);
        Ok(if is_owner { Ended::Done } else { Ended::Over })
    }

    async fn run_event(&self, event: &QueuedEvent) -> Result<Ended, Error> {
        let started = self.app.clock.now();
        let mut beside = Some(self.figures.alone.read().await);
        let mut alone = None;
        for run in 0..MAX_RUNS {
            if run == RUNS_BESIDE_OTHERS {
                drop(beside.take());
                alone = Some(self.figures.alone.write().await);
            }
            if !self.app.state::<ShardRegistry>().owns(self.network) {
                return Ok(Ended::Over);
            }
            if !limits::has_module_time(self.app, self.network).await {
                return Ok(Ended::PauseFor(NO_TIME_PAUSE));
            }
            let context = self.context(event, started);
            let input = self.input(event);
            let Some((report, opening)) = self.call(&context, &input).await else {
                // Its breaker is open: events wait, and no attempt is counted.
                return Ok(Ended::PauseFor(BREAKER_PAUSE));
            };
            if let Some(opening) = &opening {
                let call = to_call(&context);
                service::report_opening(self.app, self.network, self.point(), &self.handler.link, &call, opening);
            }
            self.record(&context, input, &report).await;
            let outcome = self.judge(event, &context, report, started).await?;
            match outcome {
                Ok(()) => return Ok(self.succeeded()),
                Err(NotCommitted::Conflict) => self.figures.count(|counts| counts.conflicts += 1),
                Err(NotCommitted::Gone) => return Ok(Ended::Done),
                Err(NotCommitted::Moved) => return Ok(Ended::Over),
                Err(NotCommitted::Unavailable(reason)) => {
                    tracing::warn!(network = %self.network, module = self.module(), reason, "a call was not committed");
                    let message = "the hub could not commit the call".to_owned();
                    let failed = Failed { code: "unavailable", message, effect: None, reason: None };
                    return self.failed(event, &context, failed).await;
                }
                Err(NotCommitted::Refused(RefusedEffect { effect, code, message })) => {
                    let failed = Failed { code: "refused_effect", message, effect, reason: Some(code) };
                    return self.failed(event, &context, failed).await;
                }
                Err(NotCommitted::Failed { code, message }) => {
                    return self.failed(event, &context, Failed { code, message, effect: None, reason: None }).await;
                }
            }
        }
        drop((beside, alone));
        let message = "its state changed again and again while it ran".to_owned();
        let context = self.context(event, started);
        self.failed(event, &context, Failed { code: "unavailable", message, effect: None, reason: None }).await
    }

    /// Input of the module.
    fn input(&self, event: &QueuedEvent) -> AnyInput {
        match self.kind {
            LetterKind::Event | LetterKind::Overflow => AnyInput::Event(Arc::new(to_input(event, &self.row.event_key))),
            LetterKind::Tick => AnyInput::Tick(Arc::new(to_tick(event))),
            LetterKind::Timer => AnyInput::Timer(Arc::new(to_timer(event))),
        }
    }

    /// Calls the module; none while its breaker is open.
    async fn call(
        &self,
        context: &CallContext,
        input: &AnyInput,
    ) -> Option<(CallReport<Handled>, Option<BreakerOpening>)> {
        let (sandbox, link) = (&self.app.state::<Modules>().sandbox, &self.handler.link);
        match input {
            AnyInput::Tick(input) => sandbox.call_link::<RunTick>(link, context.clone(), Arc::clone(input)).await,
            AnyInput::Timer(input) => sandbox.call_link::<FireTimer>(link, context.clone(), Arc::clone(input)).await,
            AnyInput::Event(input) => sandbox.call_link::<HandleEvent>(link, context.clone(), Arc::clone(input)).await,
            // Inputs of overrides, which no attempt has.
            _ => None,
        }
    }

    /// Context of the attempt: equal in all of its runs.
    fn context(&self, event: &QueuedEvent, started: Millis) -> CallContext {
        let config = self.handler.link.config();
        let (call, seed) = call_of(self.network, &config.name, self.row.seq);
        let attempt = self.row.attempts + 1;
        CallContext {
            call_id: of_attempt(&call, attempt),
            network_id: self.network.to_string(),
            now_ms: u64::try_from(started).unwrap_or(0),
            seed,
            config: config.config.clone(),
            version: u32::try_from(config.version).unwrap_or(u32::MAX),
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
            cause: event.cause().map(|cause| cause.call),
            depth: u32::try_from(event.depth).unwrap_or(u32::MAX),
            root_id: event.root_id.clone(),
        }
    }

    /// Meters, logs and records a call.
    async fn record(&self, context: &CallContext, input: AnyInput, report: &CallReport<Handled>) {
        let (app, network) = (self.app, self.network);
        service::meter(app, network, self.point(), report).await;
        let (config, call) = (self.handler.link.config(), to_call(context));
        app.state::<Modules>().logs.add(network, self.point(), config, &call, report);
        let failed = !matches!(&report.result, Ok(Handled { answer: Ok(_), .. }));
        if failed || service::take_sample(app, network, self.point()) {
            let step = RecordedStep {
                link: Arc::clone(config),
                input: input.clone(),
                limits: self.handler.link.limits(),
                report: Some(report.clone().map(Into::into)),
            };
            service::record_alone(app, network, call, input, vec![step]);
        }
    }

    /// Commits what the module answered, or says why nothing was.
    async fn judge(
        &self,
        event: &QueuedEvent,
        context: &CallContext,
        report: CallReport<Handled>,
        started: Millis,
    ) -> Result<Result<(), NotCommitted>, Error> {
        let fail = |code: &'static str, message: String| Ok(Err(NotCommitted::Failed { code, message }));
        let Handled { answer, state } = match report.result {
            Ok(handled) => handled,
            Err(failure) => return fail(failure.code(), failure.to_string()),
        };
        match answer {
            Ok(effects) => self.commit(event, context, &state, &effects, started).await,
            Err(failure) => {
                if !state::is_unchanged(self.app, self.network, self.module(), &state).await? {
                    return Ok(Err(NotCommitted::Conflict));
                }
                fail(failure.code(), failure.reason().to_owned())
            }
        }
    }

    async fn commit(
        &self,
        event: &QueuedEvent,
        context: &CallContext,
        state: &StateChanges,
        effects: &[Effect],
        started: Millis,
    ) -> Result<Result<(), NotCommitted>, Error> {
        let actor = ModuleActor {
            name: self.module().to_owned(),
            version: self.version(),
            call_id: context.call_id.clone(),
            grants: self.handler.grants.clone(),
        };
        // A tick or timer is no event, whatever its name.
        let (is_event, none) = (self.kind == LetterKind::Event, HandledEvent { name: "", data: "{}" });
        let handled = if is_event { HandledEvent { name: &event.name, data: &event.data } } else { none };
        let prepared = match prepare(self.app, self.network, &actor, handled, effects).await {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(Err(reason)),
        };
        let cause = EventCause {
            call: Cause {
                call_id: context.call_id.clone(),
                event_id: is_event.then(|| event.id()),
                module: actor.name.clone(),
                version: context.version,
            },
            depth: event.depth + 1,
            root_id: event.root_id.clone(),
        };
        let cause = serde_json::to_string(&cause).unwrap_or_default();
        let call = CommittedCall {
            network: self.network,
            point: self.point(),
            source: self.source,
            attempts: self.row.attempts + 1,
            event,
            actor: &actor,
            now: started,
            state,
            effects,
            prepared: &prepared,
            cause: cause.into(),
        };
        let _ordered = self.app.state::<Modules>().effects.order(self.app, self.network, effects).await;
        Ok(commit(self.app, &call).await)
    }

    fn succeeded(&self) -> Ended {
        if self.source == Source::Tick {
            self.app.state::<MetricRecorder>().counter(&TICKS, &["ok"]).increment(1);
        }
        if self.kind == LetterKind::Event {
            self.figures.count(|counts| counts.delivered += 1);
        }
        if self.source == Source::Queue {
            // Its bytes may be waited for by others: they are counted again when the bound is reached.
            self.app.state::<Handlers>().network(self.network).shrink_backlog(1);
        }
        Ended::Done
    }

    /// Records a failed attempt: the event waits for the next one, or is a dead letter.
    async fn failed(&self, event: &QueuedEvent, context: &CallContext, failed: Failed) -> Result<Ended, Error> {
        let (app, network, now) = (self.app, self.network, self.app.clock.now());
        let attempts = self.row.attempts + 1;
        let pause = pause(attempts, app.ids.seed());
        let due_at = now + pause;
        let is_last = attempts >= max_attempts(self.kind, failed.code);
        let letter = self.letter(event, context, &failed, attempts, now);
        let is_letter = matches!(self.source, Source::DeadLetter(_));
        let stored = app
            .db
            .transaction(async |mut tx| {
                if !app.state::<ShardRegistry>().lock_work(&mut tx, network).await? {
                    return Ok::<_, Error>((Ended::Over, 0));
                }
                if is_letter {
                    // It stays one, with its latest failure.
                    if dead_letters::find(&mut tx, network, self.module(), letter.id).await?.is_some() {
                        dead_letters::insert(&mut tx, network, &letter).await?;
                    }
                    return Ok((Ended::Done, 0));
                }
                if !is_last {
                    self.store_failure(&mut tx, event, (attempts, due_at), failed.code).await?;
                    return Ok((Ended::RetryAfter(Duration::from_millis(pause.unsigned_abs())), 0));
                }
                if !self.end_failed(&mut tx, event, attempts, failed.code).await? {
                    return Ok((Ended::Done, 0));
                }
                let mut letter = letter.clone();
                if self.source != Source::Queue {
                    // An event's letter has its number.
                    letter.id = positions::take_seqs(&mut tx, network, 1).await?;
                }
                dead_letters::insert(&mut tx, network, &letter).await?;
                let dropped = dead_letters::drop_oldest(&mut tx, network, self.module(), MAX_DEAD_LETTERS).await?;
                let told = DeadLetterEvent::of(&letter);
                events::publish_in(app, &mut tx, network, EventKind::ModuleDeadLetter, None, told).await?;
                Ok((Ended::Done, dropped))
            })
            .await?;
        if is_last && !is_letter && stored.0 == Ended::Done {
            app.state::<MetricRecorder>().counter(&DEAD_LETTERS, &[self.kind.as_str()]).increment(1);
            if self.source == Source::Tick {
                app.state::<MetricRecorder>().counter(&TICKS, &["failed"]).increment(1);
            }
        }
        if stored.1 > 0 {
            self.figures.count(|counts| counts.dropped_dead_letters += i64::try_from(stored.1).unwrap_or(0));
        }
        Ok(stored.0)
    }

    /// Stores a failed attempt that is not the last one.
    async fn store_failure(
        &self,
        tx: &mut Tx,
        event: &QueuedEvent,
        (attempts, due_at): (i64, Millis),
        code: &'static str,
    ) -> Result<bool, Error> {
        let (network, of) = (self.network, (self.module(), event.name.as_str(), event.seq));
        match self.source {
            Source::Queue | Source::DeadLetter(_) => {
                queue::fail(tx, network, self.module(), self.row.seq, (attempts, due_at)).await
            }
            Source::Tick => schedules::fail_tick(tx, network, of, (attempts, due_at), code).await,
            Source::Timer => timers::fail(tx, network, of, (attempts, due_at)).await,
        }
    }

    /// Ends what failed for the last time; false if it is not there.
    async fn end_failed(
        &self,
        tx: &mut Tx,
        event: &QueuedEvent,
        attempts: i64,
        code: &'static str,
    ) -> Result<bool, Error> {
        let (network, of) = (self.network, (self.module(), event.name.as_str(), event.seq));
        match self.source {
            Source::Queue | Source::DeadLetter(_) => end(tx, network, self.module(), Source::Queue, self.row.seq).await,
            Source::Tick => {
                let failure = schedules::TickEnd { attempts, effects: 0, code: Some(code) };
                schedules::end_tick(tx, network, of, failure, self.app.clock.now()).await
            }
            Source::Timer => timers::end(tx, network, of).await,
        }
    }

    fn letter(
        &self,
        event: &QueuedEvent,
        context: &CallContext,
        failed: &Failed,
        attempts: i64,
        now: Millis,
    ) -> DeadLetterRow {
        let text = |text: &str| text.replace('\0', "\u{fffd}").chars().take(MAX_MESSAGE).collect::<String>();
        DeadLetterRow {
            module: self.module().to_owned(),
            id: if let Source::DeadLetter(id) = self.source { id } else { self.row.seq },
            version: self.version(),
            kind: self.kind.as_str().to_owned(),
            event_key: self.row.event_key.clone(),
            first_at: self.row.queued_at,
            at: now,
            attempts,
            code: failed.code.to_owned(),
            message: text(&failed.message),
            effect: failed.effect.and_then(|effect| i64::try_from(effect).ok()),
            reason: failed.reason.as_deref().map(text),
            call_id: context.call_id.clone(),
            seq: event.seq,
            name: Some(event.name.clone()),
            data: Some(event.data.clone()),
            event_at: Some(event.at),
            player_uuid: event.player_uuid,
            player_name: event.player_name.clone(),
            server_id: event.server_id.clone(),
            depth: event.depth,
            root_id: event.root_id.clone(),
            cause: event.cause.clone(),
            first_id: None,
            last_id: None,
            lost: 0,
        }
    }
}

fn to_call(context: &CallContext) -> Call {
    Call {
        call_id: context.call_id.clone(),
        network_id: context.network_id.clone(),
        now_ms: context.now_ms,
        seed: context.seed,
    }
}

fn to_tick(event: &QueuedEvent) -> Tick {
    // Written when the tick began.
    serde_json::from_str(&event.data).unwrap_or_else(|_| Tick {
        schedule: event.name.clone(),
        due_at_ms: u64::try_from(event.at).unwrap_or(0),
        missed: 0,
        manual: false,
    })
}

fn to_timer(event: &QueuedEvent) -> Timer {
    Timer { key: event.name.clone(), at_ms: u64::try_from(event.at).unwrap_or(0), payload: event.data.clone() }
}

fn to_input(event: &QueuedEvent, key: &str) -> Event {
    Event {
        id: event.id(),
        kind: event.name.clone(),
        at_ms: u64::try_from(event.at).unwrap_or(0),
        key: key.to_owned(),
        player_uuid: event.player_uuid.map(|player| player.to_string()),
        player_name: event.player_name.clone(),
        server_id: event.server_id.clone(),
        data: event.data.clone(),
    }
}
