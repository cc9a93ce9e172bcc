//! A made-up version 1.8 for tests, as an example of the next version's file: its lines name a channel, its mutes are in
//! seconds, its log lines have a topic; the rest is as in 1.0.

mod tests;

use super::version::{Running, Version, call};
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{LogLevel, PlayerRef, chat, interface_name, punishment};
use crate::operation::candidates::{Candidates, RankAnswer};
use crate::state::CallState;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};
use wasmtime::{Error, Result, StoreContextMut};

pub(super) struct Later;

/// The lowered line borrows from the hub's own.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Line<'a> {
    #[component(name = "player")]
    player: &'a PlayerRef,
    #[component(name = "message")]
    message: &'a str,
    #[component(name = "channel")]
    channel: &'a str,
    #[component(name = "server-id")]
    server_id: &'a str,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Mute {
    #[component(name = "duration-s")]
    duration_s: u32,
    #[component(name = "reason")]
    reason: String,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct Verdict {
    #[component(name = "decision")]
    decision: chat::Decision,
    #[component(name = "mute")]
    mute: Option<Mute>,
}

impl Version for Later {
    fn number(&self) -> &'static str {
        "1.8.0"
    }

    fn interfaces(&self) -> &'static [&'static str] {
        &["log"]
    }

    fn link(&self, linker: &mut Linker<CallState>) -> Result<()> {
        let mut log = linker.instance(&interface_name("log", self.number()))?;
        log.func_wrap(
            "write",
            |mut cx: StoreContextMut<'_, CallState>, (level, message, topic): (LogLevel, String, String)| {
                cx.data_mut().log(level, format!("{topic}: {message}"));
                Ok(())
            },
        )
    }

    fn rank_servers(&self, _: Running<'_>, _: &Candidates<ServerCandidate>) -> Result<RankAnswer> {
        Err(Error::msg("the made-up version has chat alone"))
    }

    fn rank_worlds(&self, _: Running<'_>, _: &Candidates<WorldCandidate>) -> Result<RankAnswer> {
        Err(Error::msg("the made-up version has chat alone"))
    }

    fn filter(&self, running: Running<'_>, line: &chat::Line) -> Result<chat::Verdict> {
        let line = Line {
            player: &line.player,
            message: &line.message,
            channel: line.world.as_deref().unwrap_or("everywhere"),
            server_id: &line.server_id,
        };
        let params = (running.context, line);
        let Verdict { decision, mute } = call(running, params)?;
        let mute = mute.map(|mute| chat::Mute { duration_ms: u64::from(mute.duration_s) * 1000, reason: mute.reason });
        Ok(chat::Verdict { decision, mute })
    }

    fn review(&self, _: Running<'_>, _: &punishment::Proposal) -> Result<punishment::Verdict> {
        Err(Error::msg("the made-up version has chat alone"))
    }
}
