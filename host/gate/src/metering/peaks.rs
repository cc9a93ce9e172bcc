//! Peaks of concurrent players, servers and streams of networks.

use std::collections::HashMap;

use crate::app::App;
use crate::clock::Millis;
use crate::limits::{Limit, Usage};
use crate::metering::Metering;
use crate::metering::amounts::Amounts;
use crate::values::NetworkId;

/// Validity of a node's count of streams: longer than the interval between two.
pub(super) const STREAMS_TTL: Millis = 8_000;
const STREAMS_INTERVAL: Millis = 5_000;

/// Peaks that were stored, so that only higher ones are written.
#[derive(Debug, Default)]
pub(super) struct NotedPeaks {
    online: HashMap<NetworkId, (Millis, Amounts)>,
    streams: HashMap<NetworkId, (Millis, i64)>,
}

impl NotedPeaks {
    /// Peaks of players and servers above those noted for this hour.
    pub(super) fn online(&mut self, app: &App, hour: Millis) -> Vec<(NetworkId, Amounts)> {
        let mut new = vec![];
        self.online.retain(|_, (noted, _)| *noted == hour);
        for (network, players, servers) in app.state::<Metering>().online_peaks.take(app) {
            let (peak_players, peak_servers) = (players as i64, servers as i64);
            let peaks = Amounts { peak_players, peak_servers, ..Amounts::default() };
            let (_, noted) = self.online.entry(network).or_insert((hour, Amounts::default()));
            if peak_players > noted.peak_players || peak_servers > noted.peak_servers {
                noted.add(&peaks);
                new.push((network, peaks));
            }
        }
        new
    }

    /// This node's open streams since the last call, where that has to be written: the number changed, or the last
    /// write is old.
    pub(super) fn streams(&mut self, app: &App, now: Millis) -> Vec<(NetworkId, i64)> {
        let open: HashMap<_, _> = app.state::<Usage>().take_peaks(Limit::Streams).into_iter().collect();
        let closed = self.streams.iter().filter(|(network, (_, streams))| *streams > 0 && !open.contains_key(network));
        let closed: Vec<_> = closed.map(|(network, _)| (*network, 0)).collect();
        let is_due = |network: &NetworkId, streams: i64| {
            self.streams.get(network).is_none_or(|(at, noted)| *noted != streams || now - at >= STREAMS_INTERVAL)
        };
        let open = open.into_iter().filter(|(network, streams)| is_due(network, *streams));
        let due: Vec<_> = open.chain(closed).collect();
        for (network, streams) in &due {
            if *streams == 0 {
                self.streams.remove(network);
            } else {
                self.streams.insert(*network, (now, *streams));
            }
        }
        due
    }

    /// Makes the next call return all of them, after a failure.
    pub(super) fn forget_streams(&mut self) {
        self.streams.clear();
    }
}
