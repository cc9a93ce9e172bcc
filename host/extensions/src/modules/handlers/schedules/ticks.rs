//! Ticks: begun when they are due, ended with their call.

use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::ShardRegistry;
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::TICKS;
use crate::modules::handlers::call_id::call_of;
use crate::modules::handlers::schedules::due;
use crate::modules::handlers::schedules::model::{Outcome, Run, ScheduleRow};
use crate::modules::handlers::store::schedules as store;
use crate::values::NetworkId;

/// End of a tick.
#[derive(Clone, Copy, Debug)]
pub(in crate::modules::handlers) struct TickEnd {
    pub(in crate::modules::handlers) attempts: i64,
    pub(in crate::modules::handlers) effects: i64,
    /// Code of the failure; none of a success.
    pub(in crate::modules::handlers) code: Option<&'static str>,
}

/// A number that tells a tick or a timer from all others; JSON has it exactly.
pub(super) fn new_seq(app: &App) -> i64 {
    i64::try_from(app.ids.seed() >> 11).unwrap_or(i64::MAX)
}

/// Beginning of a schedule that is due.
pub(super) enum Begun {
    /// A tick with its number.
    Tick(i64, Run),
    /// It has no tick now, and its row has changed.
    Nothing,
    /// Its row is not understood, or somebody else changed it.
    Stuck,
    /// Another node owns the network.
    NotOwner,
}

/// Begins the tick that is due, unless one is under way already.
pub(super) async fn begin(app: &App, network: NetworkId, row: &ScheduleRow) -> Result<Begun, Error> {
    if let Some((seq, run)) = row.running() {
        return Ok(Begun::Tick(seq, run));
    }
    let (Some(cron), Some(next_at)) = (row.cron(), row.next_at) else { return Ok(Begun::Stuck) };
    if app.clock.settled().is_none() {
        // Nothing is read as due meanwhile.
        return Ok(Begun::Nothing);
    }
    let now = app.clock.now();
    let step = due::step(&cron, row.catch_up(), (next_at, row.free_at, row.missed), now);
    let seq = new_seq(app);
    let begun = app
        .db
        .transaction(async |mut tx| {
            if !app.state::<ShardRegistry>().lock_work(&mut tx, network).await? {
                return Ok::<_, Error>(Begun::NotOwner);
            }
            if let Some((due_at, missed)) = step.run {
                let run = Run::begin(due_at, missed, false, call_of(network, &row.module, seq).0, now);
                let began = store::begin(&mut tx, network, row, (seq, &run.to_json()), (step.next_at, now)).await?;
                return Ok(if began { Begun::Tick(seq, run) } else { Begun::Stuck });
            }
            let last_run = step.missed.map(|(due_at, missed)| Run::missed(due_at, missed).to_json());
            let missed = step.missed.map_or(row.missed, |(_, missed)| missed);
            let is_left_out = store::skip(&mut tx, network, row, (missed, last_run.as_deref()), step.next_at).await?;
            Ok(if is_left_out { Begun::Nothing } else { Begun::Stuck })
        })
        .await?;
    let left_out = match &begun {
        Begun::Tick(_, run) => run.missed - row.missed,
        Begun::Nothing => step.missed.map_or(0, |(_, missed)| missed - row.missed),
        Begun::Stuck | Begun::NotOwner => 0,
    };
    let missed = u64::try_from(left_out).unwrap_or(0);
    app.state::<MetricRecorder>().counter(&TICKS, &["missed"]).increment(missed);
    Ok(begun)
}

/// Ends a tick; false if it is not under way.
pub(in crate::modules::handlers) async fn end_tick(
    tx: &mut Tx,
    network: NetworkId,
    (module, name, seq): (&str, &str, i64),
    end: TickEnd,
    now: Millis,
) -> Result<bool, Error> {
    let Some(run) = find(tx, network, (module, name, seq)).await? else { return Ok(false) };
    let outcome = if end.code.is_none() { Outcome::Ok } else { Outcome::Failed };
    let run = Run {
        ended_at: Some(now),
        outcome,
        attempts: end.attempts,
        effects: end.effects,
        code: end.code.map(str::to_owned),
        ..run
    };
    store::end(tx, network, (module, name, seq), (&run.to_json(), run.manual, now)).await
}

/// Ends a failed attempt at a tick: the next one is due at a time.
pub(in crate::modules::handlers) async fn fail_tick(
    tx: &mut Tx,
    network: NetworkId,
    (module, name, seq): (&str, &str, i64),
    (attempts, due_at): (i64, Millis),
    code: &'static str,
) -> Result<bool, Error> {
    let Some(run) = find(tx, network, (module, name, seq)).await? else { return Ok(false) };
    let run = Run { attempts, code: Some(code.to_owned()), ..run };
    store::fail(tx, network, (module, name, seq), (&run.to_json(), due_at)).await
}

/// The tick under way, if it is this one.
async fn find(tx: &mut Tx, network: NetworkId, (module, name, seq): (&str, &str, i64)) -> Result<Option<Run>, Error> {
    let row = store::find(&mut *tx, network, module, name).await?;
    Ok(row.and_then(|row| row.running()).filter(|(running, _)| *running == seq).map(|(_, run)| run))
}
