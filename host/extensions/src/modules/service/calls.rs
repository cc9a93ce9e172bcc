//! Calls of the extension points. Without a chain the built-in behaviour decides.

use std::sync::Arc;
use std::time::Duration;

use hub_sandbox::contract::Point;
use hub_sandbox::{AnyInput, BreakerOpening, Call, CallFailure, CallReport, Link, Operation, Outcome};
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::limits;
use crate::metric_recorder::MetricRecorder;
use crate::modules::Modules;
use crate::modules::limits::ModuleLimits;
use crate::modules::records::{Record, RecordedStep};
use crate::modules::state::{ActiveChain, ChainLookup};
use crate::usage_counters::UsageCounters;
use crate::values::NetworkId;

/// True if modules may decide. Cheap; also true before the network's first call, when its chains are not loaded yet.
pub fn has_chain(app: &App, network: NetworkId, point: Point) -> bool {
    app.state::<Modules>().may_have_chain(network, point)
}

/// True if a call of modules is to be recorded: all while they are few, else a sample.
pub(in crate::modules) fn take_sample(app: &App, network: NetworkId, point: Point) -> bool {
    app.state::<Modules>().records.take_sample(network, point, app.clock.now())
}

/// A call of modules that decided something.
#[derive(Clone, Debug)]
pub struct CallTrace {
    pub call_id: String,
    /// Name and version, if only one module answered.
    pub module: Option<(String, i64)>,
}

/// Calls the network's modules at the operation's extension point.
pub async fn call<O: Operation>(app: &App, network: NetworkId, input: O::Input) -> O::Ruling {
    traced_call::<O>(app, network, input).await.0
}

/// The same, with the call if modules decided.
pub async fn traced_call<O: Operation>(
    app: &App,
    network: NetworkId,
    input: O::Input,
) -> (O::Ruling, Option<CallTrace>) {
    let input = Arc::new(input);
    match app.state::<Modules>().find_chain(app, network, O::POINT).await {
        // The built-in behaviour decides, which is not a failure of the modules.
        ChainLookup::Active(_) if !limits::has_module_time(app, network).await => (O::Ruling::default(), None),
        ChainLookup::Active(chain) => {
            // Without the database the limits of the previous call apply.
            if let Ok(limits) = ModuleLimits::of(app, network).await {
                chain.set_limits(limits);
            }
            let call = new_call(app, network);
            let outcome = app.state::<Modules>().sandbox.run_chain::<O>(&chain.chain, &call, Arc::clone(&input)).await;
            let reports = || outcome.steps.iter().filter_map(|step| step.report.as_ref());
            let micros = reports().map(|report| report.compute_micros).sum();
            reports().for_each(|report| record_call(app, O::POINT, "active", report));
            let (calls, fuel) = (reports().count() as u64, reports().map(|report| report.fuel).sum());
            app.state::<UsageCounters>().network(network).add_module_calls(calls, micros, fuel);
            limits::charge_module_time(app, network, Duration::from_micros(micros)).await;
            let mut answered =
                outcome.steps.iter().filter(|step| step.report.as_ref().is_some_and(|it| it.result.is_ok()));
            let trace = answered.next().map(|step| {
                let config = step.link.config();
                let only = answered.next().is_none();
                let module = only.then(|| (config.name.clone(), i64::try_from(config.version).unwrap_or(i64::MAX)));
                CallTrace { call_id: call.call_id.clone(), module }
            });
            (finish::<O>(app, network, &chain, call, O::any_input(&input), outcome), trace)
        }
        // Without a module that may read it, no player's text is recorded.
        ChainLookup::Empty => (O::Ruling::default(), None),
        ChainLookup::Unavailable => (O::unavailable().into(), None),
    }
}

fn record(app: &App, network: NetworkId, record: Record) {
    app.state::<Modules>().records.add(network, record, app.clock.now());
}

/// Records a call outside of any request's chain.
pub(in crate::modules) fn record_alone(
    app: &App,
    network: NetworkId,
    call: Call,
    input: AnyInput,
    steps: Vec<RecordedStep>,
) {
    record(app, network, Record::new(call, input, None, steps));
}

/// Counts a call outside of any request's chain, and charges its time.
pub(in crate::modules) async fn meter<T>(app: &App, network: NetworkId, point: Point, report: &CallReport<T>) {
    record_call(app, point, "active", report);
    app.state::<UsageCounters>().network(network).add_module_calls(1, report.compute_micros, report.fuel);
    limits::charge_module_time(app, network, Duration::from_micros(report.compute_micros)).await;
}

pub(super) fn new_call(app: &App, network: NetworkId) -> Call {
    Call {
        call_id: app.ids.token(16),
        network_id: network.to_string(),
        now_ms: u64::try_from(app.clock.now()).unwrap_or(0),
        seed: app.ids.seed(),
    }
}

/// Stores the modules' logs, starts the shadows, records the call, and returns the chain's decision.
fn finish<O: Operation>(
    app: &App,
    network: NetworkId,
    chain: &ActiveChain,
    call: Call,
    input: AnyInput,
    outcome: Outcome<O::Ruling, O::Answer>,
) -> O::Ruling {
    let Outcome { ruling, steps, shadows } = outcome;
    for step in &steps {
        if let Some(report) = &step.report {
            app.state::<Modules>().logs.add(network, chain.point, step.link.config(), &call, report);
        }
        if let Some(opening) = &step.opening {
            report_opening(app, network, chain.point, &step.link, &call, opening);
        }
    }
    for shadow in shadows {
        let (task, call, point, link) = (app.clone(), call.clone(), chain.point, Arc::clone(shadow.link()));
        app.spawn(async move {
            let Some(run) = task.state::<Modules>().sandbox.run_shadow(shadow).await else { return };
            let report = &run.report;
            record_call(&task, point, "shadow", report);
            task.state::<UsageCounters>().network(network).add_module_calls(1, report.compute_micros, report.fuel);
            limits::charge_module_time(&task, network, Duration::from_micros(report.compute_micros)).await;
            task.state::<Modules>().logs.add(network, point, link.config(), &call, &run.report);
            if let Some(opening) = &run.opening {
                report_opening(&task, network, point, &link, &call, opening);
            }
        });
    }
    let mut reports = steps.iter().filter_map(|step| step.report.as_ref());
    if reports.any(|report| report.result.is_err()) || take_sample(app, network, chain.point) {
        let steps = steps.into_iter().map(|step| RecordedStep {
            link: Arc::clone(step.link.config()),
            input: step.input,
            limits: step.limits,
            report: step.report.map(|report| report.map(Into::into)),
        });
        record(app, network, Record::new(call, input, O::ruling_answer(&ruling), steps.collect()));
    }
    ruling
}

/// Counts a call of a module for monitoring.
fn record_call<T>(app: &App, point: Point, mode: &'static str, report: &CallReport<T>) {
    let outcome = report.result.as_ref().err().map_or("ok", CallFailure::code);
    app.state::<MetricRecorder>().record_module_call(point.name(), outcome, mode, Duration::from_micros(report.micros));
}

/// Reports an opened breaker to the module's owner, in the module's log and in the network's audit log. Every opening
/// passes here.
pub(in crate::modules) fn report_opening(
    app: &App,
    network: NetworkId,
    point: Point,
    link: &Link,
    call: &Call,
    opening: &BreakerOpening,
) {
    let config = link.config();
    app.state::<Modules>().logs.add_opening(network, point, config, call, opening);
    let target = format!("{}/{}", config.name, config.version);
    let after = json!({"point": point.name(), "callId": call.call_id, "reason": opening.to_string()});
    let change = Change::new(Action::BreakerOpened, target).after(after);
    let recording = app.clone();
    app.spawn(async move {
        let origin = Origin::system(&recording, "breaker");
        if let Err(error) = audit::record_alone(&recording.db, network, &origin, change).await {
            tracing::warn!(%network, %error, "could not write an opened breaker to the audit log");
        }
    });
}
