//! Makes repeated punishments heavier: by default, the third mute within 30 days becomes a ban.

mod config;

use config::{Config, Kind, Rule};
use network_hub_module::players::{self, PunishmentFilter};
use network_hub_module::punishment::{Proposal, Punishment, Terms, Verdict};
use network_hub_module::{CallContext, config, warn};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum number of punishments returned by one data call.
const MAX_PUNISHMENTS: u32 = 100;
/// The longest reason the hub accepts, in characters.
const MAX_REASON_CHARS: usize = 256;

struct Escalation;

#[network_hub_module::export]
impl Punishment for Escalation {
    fn review(context: &CallContext, proposal: &Proposal) -> Verdict {
        let config: Config = config(context);
        // A punishment of an address alone has no record.
        let Some(player) = proposal.player_uuid.as_ref().or(proposal.player_name.as_ref()) else {
            return Verdict::accept();
        };
        // The first matching rule applies.
        for rule in config.rules.iter().filter(|rule| rule.kind.is(proposal.terms.kind)) {
            if let Some(before) = count(&config, rule, player, context.now_ms)
                && before + 1 >= rule.count
            {
                return Verdict::amend(escalated(rule, before + 1, &proposal.terms));
            }
        }
        Verdict::accept()
    }
}

/// Number of punishments of the rule's kind within its time; none if the record cannot be read.
fn count(config: &Config, rule: &Rule, player: &str, now_ms: u64) -> Option<u32> {
    let filter = PunishmentFilter {
        since_ms: Some(now_ms.saturating_sub(rule.within_days.saturating_mul(DAY_MS))),
        kind: Some(rule.kind.into()),
        limit: MAX_PUNISHMENTS,
    };
    let Ok(record) = players::punishments(player, filter) else {
        warn!("the player's record could not be read; the punishment stays as proposed");
        return None;
    };
    let counted = record.iter().filter(|punishment| config.count_revoked || !punishment.revoked);
    u32::try_from(counted.count()).ok()
}

fn escalated(rule: &Rule, number: u32, proposed: &Terms) -> Terms {
    let mut reason =
        format!("{} {} within {} days: {}", ordinal(number), rule.kind.noun(), rule.within_days, proposed.reason);
    if let Some((end, _)) = reason.char_indices().nth(MAX_REASON_CHARS) {
        reason.truncate(end);
    }
    Terms {
        kind: rule.becomes.into(),
        duration_ms: rule.duration_ms.filter(|_| rule.becomes != Kind::Kick),
        reason: reason.replace(char::is_control, " "),
    }
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests;
