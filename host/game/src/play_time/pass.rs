//! Passes bring the sums up to date, on the node that has the network's presence.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use hub_db::{Db, Error};
use parking_lot::Mutex;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Millis, Settled};
use crate::cluster::NetworkState;
use crate::play_time::day::{DAY, Day};
use crate::play_time::store::{self, Due};
use crate::play_time::sums::Sums;
use crate::play_time::{service, sums};
use crate::presence;
use crate::side_by_side::SideBySide;
use crate::values::{NetworkId, PlayerId};

const INTERVAL: Duration = Duration::from_secs(5);
const WHAT: &str = "count play time";
/// Visits counted in a transaction.
const BATCH: i64 = 2_000;
/// Age at which ended visits are deleted.
pub(super) const KEPT: Millis = 30 * DAY;
/// Visits deleted at once.
const DELETE_BATCH: i64 = 1_000;

/// Networks that passes look at.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// Passes left for each network. Some follow a change: the first may come before it is committed.
    due: Mutex<HashMap<NetworkId, u8>>,
    /// Day of the last pass.
    day: Mutex<Option<Day>>,
    side_by_side: SideBySide,
}

impl Passes {
    /// Lets the next passes look at the network.
    pub(super) fn mark_due(&self, network: NetworkId) {
        let mut due = self.due.lock();
        let passes = due.entry(network).or_default();
        *passes = (*passes).max(2);
    }

    /// Like [`Self::mark_due`], until all servers were heard on a new day or are offline.
    fn mark_new_day(&self, networks: &[NetworkId]) {
        self.due.lock().extend(networks.iter().map(|network| (*network, 12)));
    }

    fn take_due(&self) -> Vec<NetworkId> {
        let mut due = self.due.lock();
        let networks = due.keys().copied().collect();
        due.retain(|_, passes| {
            *passes -= 1;
            *passes > 0
        });
        networks
    }

    /// True once on each day.
    fn begins_day(&self, today: Day) -> bool {
        self.day.lock().replace(today) != Some(today)
    }
}

/// Lets passes look at networks that this node has taken over.
pub(super) struct DueNetworks;

impl NetworkState for DueNetworks {
    fn restore<'a>(&self, app: &'a App, network: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        app.state::<Passes>().mark_due(network);
        ready(Ok(())).boxed()
    }

    fn save<'a>(&self, _: &'a App, _: NetworkId) -> BoxFuture<'a, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn evict(&self, app: &App, network: NetworkId) {
        app.state::<Passes>().due.lock().remove(&network);
    }
}

/// Starts the passes.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| {
        pass(&app, settled).await;
        Ok::<_, Error>(())
    });
}

async fn pass(app: &App, settled: Settled) {
    let passes = app.state::<Passes>();
    let begins_day = passes.begins_day(Day::of(settled.now()));
    if begins_day {
        passes.mark_new_day(&presence::service::networks(app));
    }
    let networks = passes.take_due();
    let work = move |app: App, network| async move {
        if begins_day {
            store::end_orphans(&app.db, network).await?;
            let before = settled.before(KEPT);
            while store::delete_ended_before(&app.db, network, before, DELETE_BATCH).await? >= DELETE_BATCH as u64 {}
        }
        service::count(&app, network).await
    };
    passes.side_by_side.run(app, networks, WHAT, work).await;
}

/// Counts all that is due in a network. Returns the number of players who got their first sums.
pub(super) async fn count_all(db: &Db, network: NetworkId, now: Millis, takes_new: bool) -> Result<i64, Error> {
    let midnight = Day::of(now).start();
    let mut new = 0;
    for which in [Due::Pending, Due::OverMidnight(midnight)] {
        loop {
            let (counted, added) = count_batch(db, network, which, now, takes_new).await?;
            new += added;
            if (counted as i64) < BATCH {
                break;
            }
        }
    }
    Ok(new)
}

/// Counts visits of one player, running ones up to the last heartbeats of their servers.
pub(super) async fn count_player(db: &Db, network: NetworkId, player: PlayerId, now: Millis) -> Result<(), Error> {
    count_batch(db, network, Due::Player(player), now, true).await?;
    Ok(())
}

async fn count_batch(
    db: &Db,
    network: NetworkId,
    which: Due,
    now: Millis,
    takes_new: bool,
) -> Result<(usize, i64), Error> {
    db.transaction(async |mut tx| {
        store::lock(&mut tx, network, now).await?;
        let due = store::due(&mut tx, network, which, BATCH).await?;
        if due.is_empty() {
            return Ok((0, 0));
        }
        let mut sums = Sums::of(&due, now, takes_new);
        let seen = store::insert_days(&mut tx, network, &sums.days).await?;
        sums.count_seen(&seen);
        store::add_players(&mut tx, network, &sums.players).await?;
        store::add_types(&mut tx, network, &sums.types).await?;
        store::add_daily(&mut tx, network, &sums.daily).await?;
        store::mark_counted(&mut tx, network, &sums.counted).await?;
        let on_new_day: Vec<_> = seen.iter().map(|(player, _)| *player).collect();
        store::trim(&mut tx, network, &on_new_day, &sums::with_many_visits(&due)).await?;
        let mut new: Vec<_> = due.iter().filter(|visit| visit.first_at.is_none()).map(|it| it.player_uuid).collect();
        new.dedup();
        Ok((due.len(), new.len() as i64))
    })
    .await
}
