//! Watches the clocks around the hub while it runs.

use std::sync::LazyLock;
use std::time::Duration;

use hub_db::{Backend, Db, Error};
use parking_lot::Mutex;

use crate::app::App;
use crate::background::every;
use crate::clock::{Clock, Millis, SteadyClock, Uptime};
use crate::config::Settings;
use crate::fault::{Fault, FaultKind};
use crate::timekeeping::correction;
use crate::timekeeping::reading::Reading;
use crate::timekeeping::store;
use crate::timekeeping::synchronised::is_synchronised;
use crate::timekeeping::trust::{Agreement, Anchor, Verdict, agree, check_reading, is_plausible_after};

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which a proven time is stored: a hub that does nothing else wakes the disk no more often.
const ANCHOR_INTERVAL: Duration = Duration::from_mins(1);
/// Age at which the anchor of a machine that no longer runs is deleted.
const ANCHOR_AGE: Millis = 30 * 24 * 60 * 60 * 1000;
/// A confirmation must be this fresh.
const CONFIRMATION_AGE: Millis = 10 * 60 * 1000;
/// Readings at a start, of which the best counts.
const READINGS: u32 = 3;

/// Doubts about the time.
#[derive(Debug, Default)]
pub struct Timekeeping(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    doubt: Option<Doubt>,
    /// Time at which the last proven time was stored.
    anchored_at: Option<Uptime>,
    /// The last confirmation that this node has followed, or found to be of another time.
    known: Option<Millis>,
}

#[derive(Debug)]
struct Doubt {
    reason: Reason,
    agreement: Agreement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The authority contradicts the hub's time, by this many milliseconds.
    Contradiction(Millis),
    /// The hub's time is the authority's, which is far after this, the last proven one.
    FarAhead { since: Millis },
}

impl Timekeeping {
    /// The fault, while the time is doubtful.
    pub fn fault(&self) -> Option<Fault> {
        let reason = self.0.lock().doubt.as_ref()?.reason;
        let what = match reason {
            Reason::Contradiction(ahead) => {
                let seconds = ahead.unsigned_abs() / 1000;
                let side = if ahead > 0 { "ahead of" } else { "behind" };
                format!("The clock is {seconds} s {side} the time that has passed.")
            }
            Reason::FarAhead { .. } => "The clock is more than a day after the last start of the hub ended.".to_owned(),
        };
        let until = "Nothing expires or is deleted until it is right, or confirmed by `hub admin clock confirm`.";
        Some(Fault::tolerable(FaultKind::Clock, format!("{what} {until}")))
    }
}

/// True if the database's clock is the authority, and not the machine's.
fn follows_database(settings: &Settings, db: &Db) -> bool {
    settings.bus.is_some() && db.backend() == Backend::Postgres
}

fn authority(app: &App, reading: &Reading) -> Millis {
    if follows_database(&app.settings, &app.db) { reading.database } else { reading.machine }
}

/// True if a second source shows the authority's time.
fn has_second(app: &App, reading: &Reading) -> bool {
    let has_database = app.db.backend() == Backend::Postgres;
    has_database && agree(reading.machine, reading.database)
        || !follows_database(&app.settings, &app.db) && is_synchronised()
}

/// The clock of a hub that starts.
pub async fn clock_of(settings: &Settings, clock: Clock, db: &Db) -> Result<Clock, Error> {
    if !matches!(clock, Clock::System) {
        return Ok(clock);
    }
    let mut reading = Reading::take(db).await?;
    for _ in 1..READINGS {
        reading = reading.or_better(Reading::take(db).await?);
    }
    let now = if follows_database(settings, db) { reading.database } else { reading.machine };
    let anchors = store::anchors(db).await?;
    let steady = match check_reading(now, reading.at.millis(), &boot(), &anchors) {
        Verdict::Plausible => SteadyClock::new(now, reading.at),
        // The first check finds the contradiction. A small difference is made up for slowly, as by the nodes that run.
        Verdict::Wrong { right } | Verdict::Nearly { right } => SteadyClock::new(right, reading.at),
        Verdict::FarAhead { since } => {
            let steady = SteadyClock::new(now, reading.at);
            if !(follows_database(settings, db) && agree(reading.machine, now) || is_synchronised()) {
                steady.doubt(since);
            }
            steady
        }
    };
    Ok(Clock::Steady(steady))
}

/// Starts watching.
pub(super) fn start(app: &App) {
    let Clock::Steady(clock) = app.clock.clone() else { return };
    if app.clock.settled().is_none() {
        tracing::warn!("the clock is far ahead of the last time that is known; nothing expires until it is confirmed");
        let reason = Reason::FarAhead { since: app.clock.booked() };
        app.state::<Timekeeping>().0.lock().doubt = Some(Doubt { reason, agreement: Agreement::default() });
    }
    every(app, CHECK_INTERVAL, "check the clock", move |app| check(app, clock.clone()));
}

async fn check(app: App, clock: SteadyClock) -> Result<(), Error> {
    let reading = Reading::take(&app.db).await?;
    let now = authority(&app, &reading);
    match settle(&app, &clock, &reading, now) {
        Trust::Proven => return anchor(&app, &clock, reading.at).await,
        Trust::Sure => {
            tracing::warn!(
                ahead_ms = now.saturating_sub(clock.at(reading.at)),
                "the hub sets its time by a proven clock"
            );
            if follows_database(&app.settings, &app.db) {
                // The other nodes follow, and do not live in another time until they are sure themselves.
                store::confirm(&app.db, now).await?;
                app.state::<Timekeeping>().0.lock().known = Some(now);
            }
            return set(&app, &clock, now, reading.at).await;
        }
        Trust::Doubtful => {}
    }
    let Some(confirmed) = store::confirmation(&app.db).await? else { return Ok(()) };
    if app.state::<Timekeeping>().0.lock().known == Some(confirmed) {
        return Ok(());
    }
    let ahead = confirmed.saturating_sub(now);
    if ahead.saturating_abs() <= CONFIRMATION_AGE {
        tracing::info!("the clock is confirmed");
        set(&app, &clock, now, reading.at).await?;
    } else {
        tracing::warn!(
            ahead_ms = ahead,
            "the confirmed time is not the clock's, which this node therefore does not follow"
        );
    }
    app.state::<Timekeeping>().0.lock().known = Some(confirmed);
    Ok(())
}

/// Result of holding the hub's time against a reading.
enum Trust {
    /// The hub's time is right.
    Proven,
    /// The reading is right instead.
    Sure,
    Doubtful,
}

/// Holds the hub's time against a reading.
fn settle(app: &App, clock: &SteadyClock, reading: &Reading, now: Millis) -> Trust {
    let corrected = clock.correct(now, reading.at, reading.uncertainty);
    let before = app.state::<Timekeeping>().0.lock().doubt.as_ref().map(|doubt| doubt.reason);
    let is_right = match (corrected, before) {
        (Ok(()), None) => return Trust::Proven,
        (Ok(()), Some(Reason::Contradiction(_))) => {
            tracing::info!("the clock agrees with the time that has passed again");
            clock.settle();
            app.state::<Timekeeping>().0.lock().doubt = None;
            return Trust::Proven;
        }
        (Err(_), Some(Reason::FarAhead { since })) if is_plausible_after(since, now) => true,
        (_, Some(reason @ Reason::FarAhead { .. })) => doubt(app, clock, reading, now, reason),
        (Err(contradiction), _) => doubt(app, clock, reading, now, Reason::Contradiction(contradiction.ahead)),
    };
    if is_right { Trust::Sure } else { Trust::Doubtful }
}

/// Goes on doubting, for this reason. True if two sources have agreed for long enough.
fn doubt(app: &App, clock: &SteadyClock, reading: &Reading, now: Millis, reason: Reason) -> bool {
    let has_second = has_second(app, reading);
    let mut state = app.state::<Timekeeping>().0.lock();
    let doubt = state.doubt.get_or_insert_with(|| {
        tracing::warn!(
            ?reason,
            "the clock contradicts the time that has passed; nothing expires until it is confirmed"
        );
        clock.doubt(Millis::MAX);
        Doubt { reason, agreement: Agreement::default() }
    });
    doubt.reason = reason;
    doubt.agreement.observe(now, reading.at, has_second)
}

async fn set(app: &App, clock: &SteadyClock, now: Millis, at: Uptime) -> Result<(), Error> {
    correction::apply(app, clock, now, at).await?;
    clock.settle();
    let mut state = app.state::<Timekeeping>().0.lock();
    (state.doubt, state.anchored_at) = (None, None);
    Ok(())
}

/// Stores the time now and then.
async fn anchor(app: &App, clock: &SteadyClock, at: Uptime) -> Result<(), Error> {
    let is_due = |state: &State| state.anchored_at.is_none_or(|last| at.saturating_since(last) >= ANCHOR_INTERVAL);
    if !is_due(&app.state::<Timekeeping>().0.lock()) {
        return Ok(());
    }
    let anchor = Anchor { boot: boot(), uptime: at.millis(), at: clock.at(at) };
    store::put_anchor(&app.db, &anchor, ANCHOR_AGE, CONFIRMATION_AGE).await?;
    app.state::<Timekeeping>().0.lock().anchored_at = Some(at);
    Ok(())
}

/// Name of the machine's start; where the system has none, every process has its own.
fn boot() -> String {
    static BOOT: LazyLock<String> = LazyLock::new(|| {
        let of_process = || format!("{}-{}", std::process::id(), Uptime::now().millis());
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map_or_else(|_| of_process(), |id| id.trim().to_owned())
    });
    BOOT.clone()
}
