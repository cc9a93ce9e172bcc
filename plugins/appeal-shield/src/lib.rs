//! Never bans staff: holders of a rank are punished by higher ranks alone.

mod config;

use config::{Action, Config};
use network_hub_module::players::{PermissionState, permission};
use network_hub_module::punishment::{Proposal, Punishment, Terms, Verdict};
use network_hub_module::{CallContext, HostError, PunishmentKind, config, warn};

/// Two players, one data call for each rank, and 8 of those.
const MOST_RANKS: usize = 4;

struct AppealShield;

#[network_hub_module::export]
impl Punishment for AppealShield {
    fn review(context: &CallContext, proposal: &Proposal) -> Verdict {
        let config: Config = config(context);
        assert!(config.ranks.len() <= MOST_RANKS, "the module's configuration is wrong: more than {MOST_RANKS} ranks");
        let shielded = config.types.iter().any(|kind| kind.is(proposal.terms.kind));
        // An address alone, or a name nobody has joined with, is nobody's.
        let Some(player) = proposal.player_uuid.as_ref().filter(|_| shielded) else {
            return Verdict::accept();
        };
        let Ok(rank) = rank(&config.ranks, player) else {
            warn!("the player's rank could not be looked up; the punishment stays as proposed");
            return Verdict::accept();
        };
        match rank {
            Some(rank) if !may_punish(&config, rank, proposal) => shield(&config, &proposal.terms),
            _ => Verdict::accept(),
        }
    }
}

/// The highest rank a player holds, by its position.
fn rank(ranks: &[String], player: &str) -> Result<Option<usize>, HostError> {
    for (position, node) in ranks.iter().enumerate() {
        if permission(player, node)? == PermissionState::Granted {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// Whether the issuer is above staff of this rank.
fn may_punish(config: &Config, staff: usize, proposal: &Proposal) -> bool {
    let Some(issuer) = &proposal.issuer_uuid else {
        let name = proposal.issuer_name.as_ref();
        return name
            .is_some_and(|name| config.trusted_issuers.iter().any(|trusted| trusted.eq_ignore_ascii_case(name)));
    };
    let above = staff + usize::from(config.equals);
    // An issuer who can't be looked up is not above anybody.
    matches!(rank(&config.ranks[..above], issuer), Ok(Some(_)))
}

fn shield(config: &Config, proposed: &Terms) -> Verdict {
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

    fn decided(config: &str, proposal: &Proposal) -> Decision {
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
            assert_eq!(decided(RANKS, &by(issuer, PunishmentKind::Ban)), decision, "{issuer:?}");
        }
        let equals = r#"{"ranks": ["staff.owner", "staff.admin"], "equals": true}"#;
        assert_eq!(decided(equals, &by(Some("admin"), PunishmentKind::Ban)), Decision::Accept);
    }

    #[test]
    fn everybody_else_is_punished_as_ever() {
        for kind in [PunishmentKind::Ban, PunishmentKind::Mute, PunishmentKind::Kick] {
            assert_eq!(decided(RANKS, &by(None, kind)), Decision::Accept);
            assert_eq!(decided("{}", &by(None, kind)), Decision::Accept);
        }
    }

    #[test]
    fn staff_is_shielded_from_the_configured_types_alone() {
        grant("p", "staff.helper");
        assert_eq!(decided(RANKS, &by(None, PunishmentKind::Mute)), refused());
        assert_eq!(decided(RANKS, &by(None, PunishmentKind::Warn)), Decision::Accept);
        assert_eq!(testing::hub(|hub| hub.data_calls), 0);
        let kicks = r#"{"ranks": ["staff.helper"], "types": ["KICK"]}"#;
        assert_eq!(decided(kicks, &by(None, PunishmentKind::Kick)), refused());
        assert_eq!(decided(kicks, &by(None, PunishmentKind::Ban)), Decision::Accept);
    }

    #[test]
    fn a_warning_can_be_left_of_it() {
        grant("p", "staff.helper");
        let config = r#"{"ranks": ["staff.helper"], "action": "WARN"}"#;
        let proposal = by(None, PunishmentKind::Ban);
        let warning = Terms { kind: PunishmentKind::Warn, ..proposal.terms.clone() };
        assert_eq!(decided(config, &proposal), Decision::Amend(warning));
    }

    #[test]
    fn the_console_can_be_trusted() {
        grant("p", "staff.owner");
        let config = r#"{"ranks": ["staff.owner"], "trustedIssuers": ["Console"]}"#;
        let named = |name: &str| Proposal { issuer_name: Some(name.into()), ..by(None, PunishmentKind::Ban) };
        assert_eq!(decided(config, &named("CONSOLE")), Decision::Accept);
        assert_eq!(decided(config, &named("AntiCheat")), refused());
        // A player's name is not what they are trusted by.
        let player = Proposal { issuer_uuid: Some("x".into()), ..named("CONSOLE") };
        assert_eq!(decided(config, &player), refused());
    }

    #[test]
    fn a_full_look_at_both_fits_the_calls_there_are() {
        grant("p", "d");
        let config = r#"{"ranks": ["a", "b", "c", "d"], "equals": true}"#;
        assert_eq!(decided(config, &by(Some("nobody"), PunishmentKind::Ban)), refused());
        assert_eq!(testing::hub(|hub| hub.data_calls), 8);
    }

    #[test]
    fn what_cannot_be_looked_up_stays_as_proposed() {
        testing::hub(|hub| hub.failing = Some(HostError::Unavailable));
        assert_eq!(decided(RANKS, &by(None, PunishmentKind::Ban)), Decision::Accept);
        let address = Proposal { player_uuid: None, player_name: None, ..by(None, PunishmentKind::Ban) };
        assert_eq!(decided(RANKS, &address), Decision::Accept);
    }

    #[test]
    #[should_panic(expected = "more than 4 ranks")]
    fn more_ranks_than_can_be_asked_about_are_a_wrong_configuration() {
        decided(r#"{"ranks": ["a", "b", "c", "d", "e"]}"#, &by(None, PunishmentKind::Ban));
    }

    #[test]
    fn the_example_configuration_is_valid() {
        let config: Config = config(&testing::context(include_str!("../config.example.json")));
        assert_eq!(config.ranks.len(), 3);
    }
}
