//! Second chance: a first ban is short, a third mute becomes a ban, and some players are never punished.

use network_hub_module::players::{self, PermissionState, PunishmentFilter};
use network_hub_module::punishment::{Proposal, Punishment, Terms, Verdict};
use network_hub_module::{CallContext, HostError, PunishmentKind, config, warn};
use serde::Deserialize;

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Config {
    /// The longest first ban.
    first_ban_ms: u64,
    /// Players with this permission are never punished; empty: none.
    immune_node: String,
}

const A_WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;

impl Default for Config {
    fn default() -> Self {
        Self { first_ban_ms: A_WEEK_MS, immune_node: String::new() }
    }
}

struct SecondChance;

#[network_hub_module::export]
impl Punishment for SecondChance {
    fn review(context: &CallContext, proposal: &Proposal) -> Verdict {
        evaluate(&config(context), proposal).unwrap_or_else(|error| {
            warn!("the record can't be read: {error:?}");
            Verdict::accept()
        })
    }
}

fn evaluate(config: &Config, proposal: &Proposal) -> Result<Verdict, HostError> {
    let Some(uuid) = &proposal.player_uuid else { return Ok(Verdict::accept()) };
    let node = &config.immune_node;
    if !node.is_empty() && players::permission(uuid, node)? == PermissionState::Granted {
        let name = proposal.player_name.as_deref().unwrap_or("This player");
        return Ok(Verdict::refuse(format!("{name} can't be punished.")));
    }
    let terms = &proposal.terms;
    let is_long = terms.duration_ms.is_none_or(|duration| duration > config.first_ban_ms);
    if terms.kind == PunishmentKind::Ban && is_long && earlier(uuid, PunishmentKind::Ban)? == 0 {
        return Ok(Verdict::amend(Terms { duration_ms: Some(config.first_ban_ms), ..terms.clone() }));
    }
    if terms.kind == PunishmentKind::Mute && earlier(uuid, PunishmentKind::Mute)? >= 2 {
        return Ok(Verdict::amend(Terms { kind: PunishmentKind::Ban, ..terms.clone() }));
    }
    Ok(Verdict::accept())
}

/// Number of such punishments of the player; revoked ones do not count.
fn earlier(uuid: &str, kind: PunishmentKind) -> Result<usize, HostError> {
    let filter = PunishmentFilter { since_ms: None, kind: Some(kind), limit: 100 };
    let record = players::punishments(uuid, filter)?;
    Ok(record.iter().filter(|punishment| !punishment.revoked).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::punishment::Decision;
    use network_hub_module::testing;

    const UUID: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

    fn review(kind: PunishmentKind) -> Decision {
        let proposal = Proposal {
            player_uuid: Some(UUID.into()),
            player_name: Some("Notch".into()),
            terms: Terms { kind, duration_ms: None, reason: "x-ray".into() },
            ip_based: false,
            issuer_uuid: None,
            issuer_name: None,
        };
        let config = r#"{"firstBanMs": 1000, "immuneNode": "staff"}"#;
        SecondChance::review(&testing::context(config), &proposal).decision
    }

    #[test]
    fn the_first_ban_is_short() {
        let short = Terms { kind: PunishmentKind::Ban, duration_ms: Some(1000), reason: "x-ray".into() };
        assert_eq!(review(PunishmentKind::Ban), Decision::Amend(short));
    }

    #[test]
    fn staff_is_never_punished() {
        let granted = PermissionState::Granted;
        testing::hub(|hub| hub.permissions.insert((UUID.into(), "staff".into()), granted));
        assert_eq!(review(PunishmentKind::Kick), Decision::Refuse("Notch can't be punished.".into()));
    }
}
