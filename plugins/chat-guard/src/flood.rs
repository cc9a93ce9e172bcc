//! Flood control: a counter per player over a fixed window, in the module's key-value store.

use crate::config::{Flood, FloodMute};
use network_hub_module::chat::Verdict;
use network_hub_module::{HostError, store, warn};

/// Counts a line; a verdict if it is over the limit. Without the store the line passes.
pub(crate) fn check(flood: &Flood, player: &str) -> Option<Verdict> {
    count(flood, player).unwrap_or_else(|_| {
        warn!("flood control could not reach the store; the line passes");
        None
    })
}

fn count(flood: &Flood, player: &str) -> Result<Option<Verdict>, HostError> {
    let sent = store::increment(&key("sent", player), 1, Some(flood.per_ms.max(1)))?;
    if sent <= flood.messages {
        return Ok(None);
    }
    let refusal = Verdict::refuse(flood.reason.as_str());
    // A flood counts once, regardless of its number of lines.
    if sent > flood.messages + 1 {
        return Ok(Some(refusal));
    }
    let Some(mute) = &flood.mute else {
        return Ok(Some(refusal));
    };
    Ok(Some(if reaches_mute(mute, player)? {
        refusal.and_mute(mute.duration_ms, mute.reason.as_str())
    } else {
        refusal
    }))
}

fn reaches_mute(mute: &FloodMute, player: &str) -> Result<bool, HostError> {
    let key = key("floods", player);
    let floods = store::increment(&key, 1, Some(mute.within_ms.max(1)))?;
    if floods < mute.after_floods {
        return Ok(false);
    }
    store::delete(&key)?;
    Ok(true)
}

fn key(what: &str, player: &str) -> String {
    [what, ":", player].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::chat::Decision;
    use network_hub_module::testing;

    fn flood(mute: Option<FloodMute>) -> Flood {
        Flood { messages: 2, per_ms: 1000, reason: "slow down".into(), mute }
    }

    fn send(flood: &Flood, now_ms: u64) -> Option<Verdict> {
        testing::context_at(now_ms, "{}");
        check(flood, "p")
    }

    #[test]
    fn the_line_over_the_limit_is_refused_until_the_window_ends() {
        let flood = flood(None);
        assert_eq!(send(&flood, 0), None);
        assert_eq!(send(&flood, 10), None);
        assert_eq!(send(&flood, 20), Some(Verdict::refuse("slow down")));
        assert_eq!(send(&flood, 999), Some(Verdict::refuse("slow down")));
        assert_eq!(send(&flood, 1000), None);
    }

    #[test]
    fn players_are_counted_separately() {
        let flood = flood(None);
        (0..3).for_each(|_| drop(send(&flood, 0)));
        assert_eq!(check(&flood, "another"), None);
    }

    #[test]
    fn repeated_floods_mute_once() {
        let flood = flood(Some(FloodMute { after_floods: 2, ..FloodMute::default() }));
        let verdicts: Vec<_> = (0..12).map(|at| send(&flood, at / 4 * 1000)).collect();
        let muted: Vec<_> =
            (0..12).filter(|&at| verdicts[at].as_ref().is_some_and(|verdict| verdict.mute.is_some())).collect();
        // Three floods of two lines each; the first line of the second flood mutes.
        assert_eq!(muted, [6]);
        assert_eq!(verdicts[6].as_ref().map(|verdict| &verdict.decision), Some(&Decision::Refuse("slow down".into())));
    }

    #[test]
    fn an_unreachable_store_lets_lines_pass() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        assert_eq!(check(&flood(None), "p"), None);
        assert!(testing::hub(|hub| hub.log[0].contains("could not reach")));
    }
}
