//! Matches those who wait. Modules of the network rank the destinations outside all locks, one ticket after the other; the
//! slots stay where they are meanwhile, because no `find` takes what somebody waits for.

use std::collections::HashSet;
use std::sync::Arc;

use hub_sandbox::contract::Point;

use crate::app::App;
use crate::modules::service::{Ranking, has_chain};
use crate::values::NetworkId;
use crate::waiting_lines::memory::Offered;
use crate::waiting_lines::network::NetworkLines;

/// Tickets offered to modules in one pass.
const MAX_OFFERED: usize = 1_000;

/// Gives free slots to those who wait.
pub(super) async fn run(app: &App, network: NetworkId, lines: &Arc<NetworkLines>) {
    if has_chain(app, network, Point::Matchmaking) {
        return run_by_modules(app, network, lines).await;
    }
    loop {
        let (now, may_end) = (app.clock.now(), app.clock.settled().is_some());
        if !lines.change(app, network, |lines, presence| lines.run(presence, now, may_end, &app.ids)) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

async fn run_by_modules(app: &App, network: NetworkId, lines: &Arc<NetworkLines>) {
    let _ranking = lines.ranking.lock().await;
    let mut asked = HashSet::new();
    while asked.len() < MAX_OFFERED {
        let (now, may_end) = (app.clock.now(), app.clock.settled().is_some());
        let offered = lines.change(app, network, |lines, presence| {
            if may_end {
                lines.end_due(presence, now);
            }
            lines.next_offer(presence, now, &asked, &app.ids)
        });
        let Some(Offered { seq, offer }) = offered else { return };
        asked.insert(seq);
        let ranked = offer.rank(app, network).await;
        let now = app.clock.now();
        lines.change(app, network, |lines, presence| {
            if let Ranking::Refused(reason) = &ranked.ranking {
                lines.reject(presence, seq, reason.clone(), now);
            }
            // None if they refused.
            ranked.destinations().any(|at| lines.match_now(presence, seq, &at, now, &app.ids));
        });
    }
}
