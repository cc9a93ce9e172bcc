//! One line: its order, its settings, and the slots that came free for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Millis;
use crate::matchmaking::Mode;
use crate::presence::NetworkPresence;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::memory::freed::{Freed, available};
use crate::waiting_lines::model::{LineName, LineSettings, covers};
use crate::waiting_lines::order::{LineOrder, Standing};

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) mode: Mode,
    pub(super) settings: LineSettings,
    pub(super) order: LineOrder,
    pub(super) freed: Freed,
    /// Free slots of each server when the line last looked.
    pub(super) available: HashMap<Arc<str>, u32>,
    /// True if places may have changed since they were told.
    pub(super) is_changed: bool,
    /// The same, for places far behind.
    pub(super) is_far_changed: bool,
    pub(super) far_told_at: Millis,
    /// Slots that had come free when places were last told.
    pub(super) told_freed: u64,
}

impl Line {
    pub(super) fn enter(&mut self, standing: Standing, size: usize, is_constant: bool) {
        self.order.insert(standing, size, is_constant);
        (self.is_changed, self.is_far_changed) = (true, true);
    }

    /// Takes a ticket out; false if it was not there.
    pub(super) fn leave(&mut self, standing: Standing, size: usize) -> bool {
        (self.is_changed, self.is_far_changed) = (true, true);
        self.order.remove(standing, size).is_some()
    }

    /// Players who wait in it.
    pub(super) fn waiting(&self) -> usize {
        self.order.players()
    }

    /// Estimated time until a player at this place is matched; none if no slot came free lately.
    pub(super) fn eta(&self, position: usize, now: Millis) -> Option<i64> {
        self.freed.eta(position, now)
    }

    /// True without tickets, settings and slots that came free lately.
    fn is_unused(&self, now: Millis) -> bool {
        self.waiting() == 0 && self.settings == LineSettings::default() && self.freed.total(now) == 0
    }

    pub(super) fn is_paused(&self, now: Millis) -> bool {
        self.settings.at(now).paused
    }
}

impl Lines {
    /// The line with this name, which begins now if it is new.
    pub(super) fn line(&mut self, name: &LineName, mode: &Mode, presence: &NetworkPresence, now: Millis) -> &mut Line {
        let index = match mode {
            Mode::Server { server_type } | Mode::World { server_type, .. } => {
                self.by_type.entry(server_type.as_str().to_owned()).or_default()
            }
            Mode::Direct(at) => self.by_server.entry(at.server_id.as_str().to_owned()).or_default(),
        };
        index.insert(name.clone());
        self.by_name.entry(name.clone()).or_insert_with(|| Line {
            mode: mode.clone(),
            settings: LineSettings::default(),
            order: LineOrder::default(),
            freed: Freed::default(),
            available: available_now(mode, presence, now),
            is_changed: false,
            is_far_changed: false,
            far_told_at: 0,
            told_freed: 0,
        })
    }

    /// Forgets lines without tickets, settings and slots that came free lately.
    pub(super) fn forget_unused_lines(&mut self, now: Millis) {
        let unused = self.by_name.iter().filter(|(_, line)| line.is_unused(now));
        let unused: Vec<_> = unused.map(|(name, _)| name.clone()).collect();
        for name in unused {
            self.forget_line(&name);
        }
    }

    /// Forgets a line if it is unused.
    pub(super) fn forget_if_unused(&mut self, name: &LineName, now: Millis) {
        if self.by_name.get(name).is_some_and(|line| line.is_unused(now)) {
            self.forget_line(name);
        }
    }

    fn forget_line(&mut self, name: &LineName) {
        let Some(line) = self.by_name.remove(name) else { return };
        let (index, key) = match &line.mode {
            Mode::Server { server_type } | Mode::World { server_type, .. } => (&mut self.by_type, server_type.as_str()),
            Mode::Direct(at) => (&mut self.by_server, at.server_id.as_str()),
        };
        let Some(names) = index.get_mut(key) else { return };
        names.remove(name);
        if names.is_empty() {
            index.remove(key);
        }
    }

    /// Names of the lines that a server can serve.
    pub(super) fn lines_of(&self, server: &crate::presence::Server) -> impl Iterator<Item = &LineName> {
        let by_type = self.by_type.get(server.info.server_type.as_str());
        by_type.into_iter().chain(self.by_server.get(server.info.server_id.as_str())).flatten()
    }
}

pub(super) fn available_now(mode: &Mode, presence: &NetworkPresence, now: Millis) -> HashMap<Arc<str>, u32> {
    let of = |server: &crate::presence::Server| {
        (Arc::<str>::from(server.info.server_id.as_str()), available(mode, server, now))
    };
    match mode {
        Mode::Server { server_type } | Mode::World { server_type, .. } => {
            presence.of_type(server_type, now).map(of).collect()
        }
        Mode::Direct(at) => {
            let server = presence.server(at.server_id.as_str(), now).filter(|server| covers(mode, server));
            server.map(of).into_iter().collect()
        }
    }
}
