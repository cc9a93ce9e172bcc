//! Protects staff: only holders of a higher rank can punish them.

mod config;

use config::{Action, Config};
use network_hub_module::players::{PermissionState, permission};
use network_hub_module::punishment::{Proposal, Punishment, Terms, Verdict};
use network_hub_module::{CallContext, HostError, PunishmentKind, config, warn};

/// One data call for each rank of two players; a call has 8.
const MAX_RANKS: usize = 4;

struct AppealShield;

#[network_hub_module::export]
impl Punishment for AppealShield {
    fn review(context: &CallContext, proposal: &Proposal) -> Verdict {
        let config: Config = config(context);
        assert!(config.ranks.len() <= MAX_RANKS, "the module's configuration is wrong: more than {MAX_RANKS} ranks");
        let is_protected = config.types.iter().any(|kind| kind.is(proposal.terms.kind));
        // An address alone, or a name that has never joined, has no player.
        let Some(player) = proposal.player_uuid.as_ref().filter(|_| is_protected) else {
            return Verdict::accept();
        };
        let Ok(rank) = rank(&config.ranks, player) else {
            warn!("the player's rank could not be looked up; the punishment stays as proposed");
            return Verdict::accept();
        };
        match rank {
            Some(rank) if !may_punish(&config, rank, proposal) => protect(&config, &proposal.terms),
            _ => Verdict::accept(),
        }
    }
}

/// The position of the highest rank a player holds.
fn rank(ranks: &[String], player: &str) -> Result<Option<usize>, HostError> {
    for (position, node) in ranks.iter().enumerate() {
        if permission(player, node)? == PermissionState::Granted {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// True if the issuer ranks above this rank.
fn may_punish(config: &Config, staff: usize, proposal: &Proposal) -> bool {
    let Some(issuer) = &proposal.issuer_uuid else {
        let name = proposal.issuer_name.as_ref();
        return name
            .is_some_and(|name| config.trusted_issuers.iter().any(|trusted| trusted.eq_ignore_ascii_case(name)));
    };
    let sufficient = staff + usize::from(config.equals);
    // An issuer who cannot be looked up has no rank.
    matches!(rank(&config.ranks[..sufficient], issuer), Ok(Some(_)))
}

fn protect(config: &Config, proposed: &Terms) -> Verdict {
    match config.action {
        Action::Refuse => Verdict::refuse(config.reason.as_str()),
        Action::Warn => Verdict::amend(Terms { kind: PunishmentKind::Warn, ..proposed.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::punishment::Decision;
    use network_hub_module::testing;

    const RANKS: &str = r#"{"ranks": ["staff.owner", "staff.admin", "staff.helper"]}"#;

    fn grant(player: &str, node: &str) {
        testing::hub(|hub| hub.permissions.insert((player.into(), node.into()), PermissionState::Granted));
    }

    fn by(issuer: Option<&str>, kind: PunishmentKind) -> Proposal {
        Proposal { issuer_uuid: issuer.map(String::from), ..testing::proposal(kind) }
    }

    fn decide(config: &str, proposal: &Proposal) -> Decision {
        AppealShield::review(&testing::context(config), proposal).decision
    }

    fn refused() -> Decision {
        Decision::Refuse("This player is staff; only higher staff may do that.".into())
    }

    #[test]
    fn only_higher_staff_punishes_staff() {
        grant("p", "staff.admin");
        grant("owner", "staff.owner");
        grant("admin", "staff.admin");
        grant("helper", "staff.helper");
        for (issuer, decision) in [
            (Some("owner"), Decision::Accept),
            (Some("admin"), refused()),
            (Some("helper"), refused()),
            (Some("nobody"), refused()),
            (None, refused()),
        ] {
            assert_eq!(decide(RANKS, &by(issuer, PunishmentKind::Ban)), decision, "{issuer:?}");
        }
        let equals = r#"{"ranks": ["staff.owner", "staff.admin"], "equals": true}"#;
        assert_eq!(decide(equals, &by(Some("admin"), PunishmentKind::Ban)), Decision::Accept);
    }

    #[test]
    fn players_without_a_rank_are_punished() {
        for kind in [PunishmentKind::Ban, PunishmentKind::Mute, PunishmentKind::Kick] {
            assert_eq!(decide(RANKS, &by(None, kind)), Decision::Accept);
            assert_eq!(decide("{}", &by(None, kind)), Decision::Accept);
        }
    }

    #[test]
    fn staff_is_protected_from_configured_types_only() {
        grant("p", "staff.helper");
        assert_eq!(decide(RANKS, &by(None, PunishmentKind::Mute)), refused());
        assert_eq!(decide(RANKS, &by(None, PunishmentKind::Warn)), Decision::Accept);
        assert_eq!(testing::hub(|hub| hub.data_calls), 0);
        let kicks = r#"{"ranks": ["staff.helper"], "types": ["KICK"]}"#;
        assert_eq!(decide(kicks, &by(None, PunishmentKind::Kick)), refused());
        assert_eq!(decide(kicks, &by(None, PunishmentKind::Ban)), Decision::Accept);
    }

    #[test]
    fn a_punishment_can_become_a_warning() {
        grant("p", "staff.helper");
        let config = r#"{"ranks": ["staff.helper"], "action": "WARN"}"#;
        let proposal = by(None, PunishmentKind::Ban);
        let warning = Terms { kind: PunishmentKind::Warn, ..proposal.terms.clone() };
        assert_eq!(decide(config, &proposal), Decision::Amend(warning));
    }

    #[test]
    fn the_console_can_be_trusted() {
        grant("p", "staff.owner");
        let config = r#"{"ranks": ["staff.owner"], "trustedIssuers": ["Console"]}"#;
        let named = |name: &str| Proposal { issuer_name: Some(name.into()), ..by(None, PunishmentKind::Ban) };
        assert_eq!(decide(config, &named("CONSOLE")), Decision::Accept);
        assert_eq!(decide(config, &named("AntiCheat")), refused());
        // Only names of automatic issuers are trusted.
        let player = Proposal { issuer_uuid: Some("x".into()), ..named("CONSOLE") };
        assert_eq!(decide(config, &player), refused());
    }

    #[test]
    fn looking_up_both_ranks_stays_within_the_data_calls() {
        grant("p", "d");
        let config = r#"{"ranks": ["a", "b", "c", "d"], "equals": true}"#;
        assert_eq!(decide(config, &by(Some("nobody"), PunishmentKind::Ban)), refused());
        assert_eq!(testing::hub(|hub| hub.data_calls), 8);
    }

    #[test]
    fn without_data_the_punishment_stays_as_proposed() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        assert_eq!(decide(RANKS, &by(None, PunishmentKind::Ban)), Decision::Accept);
        let address = Proposal { player_uuid: None, player_name: None, ..by(None, PunishmentKind::Ban) };
        assert_eq!(decide(RANKS, &address), Decision::Accept);
    }

    #[test]
    #[should_panic(expected = "more than 4 ranks")]
    fn more_than_four_ranks_are_a_wrong_configuration() {
        decide(r#"{"ranks": ["a", "b", "c", "d", "e"]}"#, &by(None, PunishmentKind::Ban));
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.ranks.len(), 3);
    }
}
