//! Roles of people: sets of scopes.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;
use utoipa::ToSchema;

use crate::auth::model::{Scope, Scopes};

/// Role of a person in a network.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    /// All permissions of a network's first key.
    Owner,
    /// Settings, modules, servers, players and people, but no permissions of machines: only owners create keys with
    /// `plugin` or `agent`.
    Admin,
    /// Players and punishments.
    Moderator,
    /// Read-only access to servers and modules.
    Viewer,
}

impl Role {
    /// Name in the API.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Scopes of the role.
    pub fn scopes(self) -> Scopes {
        let only = |scopes: &[Scope]| scopes.iter().copied().collect();
        match self {
            Self::Owner => Scopes::owner(),
            Self::Admin => {
                let not = [Scope::Operator, Scope::Plugin, Scope::Agent];
                Scope::VARIANTS.iter().copied().filter(|scope| !not.contains(scope)).collect()
            }
            Self::Moderator => only(&[
                Scope::EventsRead,
                Scope::PlayersWrite,
                Scope::PunishmentsWrite,
                Scope::LinesManage,
                Scope::ServersRead,
            ]),
            Self::Viewer => only(&[Scope::ServersRead, Scope::ModulesRead]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_includes_the_next() {
        let roles = [Role::Owner, Role::Admin, Role::Moderator];
        for pair in roles.windows(2) {
            assert!(pair[0].scopes().cover(pair[1].scopes()), "{pair:?}");
            assert!(!pair[1].scopes().cover(pair[0].scopes()), "{pair:?}");
        }
        assert!(Role::Admin.scopes().cover(Role::Viewer.scopes()));
        assert!(!Role::Owner.scopes().allow(Scope::Operator));
    }
}
