//! Roles of people: sets of scopes.

use hub_base::text_type::text_type;
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
                Scope::ServersRead,
                Scope::PlayersRead,
                Scope::PunishmentsManage,
                Scope::ReportsManage,
                Scope::ChatRead,
                Scope::ConsoleRead,
                Scope::LinesManage,
            ]),
            Self::Viewer => only(&[Scope::ServersRead, Scope::ModulesRead]),
        }
    }
}

text_type! {
    /// Name of a role: a given one, or one of the network's own. 1 to 32 of the characters A-Z, a-z, 0-9, `_` and `-`.
    pub struct RoleName;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_name = (1..=32).contains(&text.len()) && text.bytes().all(fits);
        is_name.then_some(()).ok_or("must be 1 to 32 of the characters A-Z, a-z, 0-9, _ and -")
    };
    schema: |text| text.pattern(Some("^[A-Za-z0-9_-]{1,32}$")).examples(["MODERATOR"]);
}

impl RoleName {
    /// The given role of this name.
    pub fn given(&self) -> Option<Role> {
        self.as_str().parse().ok()
    }

    /// True if no network can have a role of its own with this name: that of a given one, in any case.
    pub fn is_reserved(&self) -> bool {
        self.as_str().to_ascii_uppercase().parse::<Role>().is_ok()
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        Self(role.as_str().to_owned())
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
