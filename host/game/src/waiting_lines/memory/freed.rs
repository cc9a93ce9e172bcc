//! Slots that came free for a line, from which its players' waiting time is estimated.

use std::sync::Arc;

use crate::clock::Millis;
use crate::matchmaking::Mode;
use crate::presence::{NetworkPresence, Role, Server, free_slots};
use crate::waiting_lines::memory::Lines;

/// Time for which a slot counts.
const WINDOW: Millis = 300_000;
/// Length of a bucket.
const BUCKET: Millis = 10_000;
const BUCKETS: usize = 30;

/// Slots that came free in the last five minutes, in buckets of ten seconds.
#[derive(Debug, Default)]
pub(super) struct Freed {
    buckets: [u64; BUCKETS],
    /// Number of the newest bucket since the epoch.
    newest: Millis,
}

impl Freed {
    fn advance(&mut self, now: Millis) {
        let bucket = now.div_euclid(BUCKET);
        let passed = (bucket - self.newest).clamp(0, BUCKETS as Millis);
        for number in (bucket - passed + 1)..=bucket {
            self.buckets[index(number)] = 0;
        }
        self.newest = self.newest.max(bucket);
    }

    pub(super) fn add(&mut self, slots: u32, now: Millis) {
        self.advance(now);
        self.buckets[index(self.newest)] += u64::from(slots);
    }

    /// Slots that came free in the window that ends now.
    pub(super) fn total(&self, now: Millis) -> u64 {
        let oldest = now.div_euclid(BUCKET) - BUCKETS as Millis + 1;
        let counted = (self.newest - BUCKETS as Millis + 1).max(oldest)..=self.newest;
        counted.map(|number| self.buckets[index(number)]).sum()
    }

    pub(super) fn eta(&self, position: usize, now: Millis) -> Option<i64> {
        let freed = i64::try_from(self.total(now)).unwrap_or(i64::MAX);
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        (freed > 0).then(|| position.saturating_mul(WINDOW) / freed)
    }
}

fn index(bucket: Millis) -> usize {
    bucket.rem_euclid(BUCKETS as Millis) as usize
}

/// Free slots of a server for a line. One without a limit has none that could come free.
pub(super) fn available(mode: &Mode, server: &Server, now: Millis) -> u32 {
    if server.info.role == Role::Proxy || !server.takes_players() {
        return 0;
    }
    let limited = |max: u32, taken: u32| if max == 0 { u32::MAX } else { free_slots(max, taken) };
    let on_server = limited(server.info.max_players, server.taken(now, &[]));
    let worlds = server.worlds.iter().filter(|world| match mode {
        Mode::Server { .. } => false,
        Mode::World { world_type, .. } => {
            world.takes_players() && (world_type.is_none() || world.report.world_type == *world_type)
        }
        Mode::Direct(at) => at.world_id.as_ref() == Some(&world.report.world_id) && world.takes_players(),
    });
    let is_of_worlds = match mode {
        Mode::Server { .. } => false,
        Mode::World { .. } => true,
        Mode::Direct(at) => at.world_id.is_some(),
    };
    let in_worlds = worlds.map(|world| limited(world.max_players(), server.taken_in(world, now, &[])));
    let free = if is_of_worlds { in_worlds.fold(0, u32::saturating_add).min(on_server) } else { on_server };
    if free == u32::MAX { 0 } else { free }
}

impl Lines {
    /// Compares the free slots of a server with those that its lines last saw; `counts` the new ones as having come free.
    pub(super) fn note_available(&mut self, id: &Arc<str>, presence: &NetworkPresence, now: Millis, counts: bool) {
        let server = presence.server(id, now);
        let names: Vec<_> = match server {
            Some(server) => self.lines_of(server).cloned().collect(),
            None => {
                self.by_name.iter().filter(|(_, line)| line.available.contains_key(id)).map(|it| it.0.clone()).collect()
            }
        };
        for name in names {
            let Some(line) = self.by_name.get_mut(&name) else { continue };
            let free = server.map_or(0, |server| available(&line.mode, server, now));
            let before = line.available.insert(Arc::clone(id), free).unwrap_or(0);
            if server.is_none() {
                line.available.remove(id);
            }
            if counts && free > before {
                line.freed.add(free - before, now);
            }
        }
    }
}
