//! All pages and forms.

pub(crate) mod activation;
pub(crate) mod artifacts;
mod calls;
pub(crate) mod chain;
mod chain_config;
mod chain_conflict;
mod chat;
mod content;
pub(crate) mod doors;
pub(crate) mod downloads;
mod find;
pub(crate) mod home;
mod hub;
pub(crate) mod imports;
mod lines;
mod me;
mod moderation;
pub(crate) mod modules;
mod money;
mod names;
mod network;
mod overview;
pub(crate) mod permissions;
mod player_data;
mod players;
mod punishments;
mod roles;
mod schedules;
mod servers;
mod settings;
pub(crate) mod undo;
mod webhooks;
mod worlds;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};

/// All pages of people who are signed in.
pub(crate) fn all() -> impl Iterator<Item = &'static Page> {
    let all = [
        PAGES,
        lines::PAGES,
        moderation::PAGES,
        permissions::PAGES,
        content::PAGES,
        money::PAGES,
        worlds::PAGES,
        imports::PAGES,
        modules::PAGES,
        activation::PAGES,
        schedules::PAGES,
        player_data::PAGES,
        chat::PAGES,
        calls::PAGES,
        find::PAGES,
        artifacts::PAGES,
        roles::PAGES,
        webhooks::PAGES,
        settings::PAGES,
        hub::PAGES,
    ];
    all.into_iter().flatten()
}

/// The page of this address.
pub(crate) fn at(address: &str) -> Option<&'static Page> {
    all().find(|page| page.at == address)
}

/// All their forms.
pub(crate) fn actions() -> impl Iterator<Item = &'static Action> {
    let all = [
        ACTIONS,
        lines::ACTIONS,
        moderation::ACTIONS,
        permissions::ACTIONS,
        content::ACTIONS,
        money::ACTIONS,
        worlds::ACTIONS,
        imports::ACTIONS,
        player_data::ACTIONS,
        calls::ACTIONS,
        modules::ACTIONS,
        activation::ACTIONS,
        schedules::ACTIONS,
        find::ACTIONS,
        artifacts::ACTIONS,
        roles::ACTIONS,
        webhooks::ACTIONS,
        settings::ACTIONS,
        hub::ACTIONS,
    ];
    all.into_iter().flatten()
}

static PAGES: &[Page] = &[
    page!("/me", "me.html", me::read),
    page!("/me/device", "device.html", me::device),
    page!("/n/{network}", "overview.html", overview::read),
    page!("/n/{network}/servers", "servers.html", servers::list),
    page!("/n/{network}/servers/connect", "connect.html", servers::connect),
    page!("/n/{network}/servers/{serverId}", "server.html", servers::console),
    page!("/n/{network}/servers/{serverId}/players", "server-players.html", servers::players),
    page!("/n/{network}/servers/{serverId}/history", "server-history.html", servers::history),
    page!("/n/{network}/servers/{serverId}/changes", "server-changes.html", servers::changes),
    page!("/n/{network}/servers/{serverId}/settings", "server-settings.html", servers::one),
    page!("/n/{network}/players", "players.html", players::list),
    page!("/n/{network}/players/{uuid}", "player.html", players::one),
    page!("/n/{network}/players/{uuid}/punishments", "player-punishments.html", players::punishments),
    page!("/n/{network}/punishments", "punishments.html", punishments::list),
    page!("/n/{network}/punishments/new", "punish.html", punishments::form),
    page!("/n/{network}/keys", "keys.html", network::keys),
    page!("/n/{network}/staff", "people.html", network::people),
    page!("/n/{network}/audit", "audit.html", network::audit),
    page!("/n/{network}/usage", "usage.html", network::usage),
    page!("/n/{network}/plan", "plan.html", network::plan),
    page!("/hub", "hub-networks.html", hub::networks),
    page!("/hub/people", "hub-people.html", hub::people),
    page!("/hub/waitlist", "hub-waitlist.html", hub::waitlist),
    page!("/hub/audit", "audit.html", hub::audit),
];

const SERVER: &str = "/n/{network}/servers/{serverId}";
const PUNISHMENT: &[Field] = &[
    Field::text("playerName"),
    Field::text("type"),
    Field::text("reason"),
    Field::number("durationMs"),
    Field::flag("ipBased"),
    Field::text("issuerName"),
];
const REVOKED: &[Field] = &[Field::number("punishmentId"), Field::text("reason"), Field::text("actorName")];
const ISSUER: &[Field] = &[Field::text("issuerName"), Field::text("reason"), Field::flag("dryRun")];
const KEY: &[Field] = &[Field::text("name"), Field::list("scopes"), Field::lines("addresses"), Field::lines("servers")];
const INVITATION: &[Field] = &[Field::text("email"), Field::text("role")];
const LINE: &[Field] = &[Field::exact("line")];
const COMMAND: &[Field] = &[Field::exact("command")];
const ROLLED: &[Field] = &[Field::number("overlapMs")];
const ROLE: &[Field] = &[Field::text("role")];
const NETWORK: &[Field] = &[Field::text("name"), Field::text("plan")];
const NOTE: &[Field] = &[Field::text("text")];
const INVITED: &[Field] = &[Field::text("networkId"), Field::text("role")];
const EMAIL: &[Field] = &[Field::text("email")];
const PASSWORDS: &[Field] = &[Field::exact("current"), Field::exact("new")];
const PASSWORD: &[Field] = &[Field::exact("password")];
const CODE: &[Field] = &[Field::text("code")];
const PASSWORD_AND_CODE: &[Field] = &[Field::exact("password"), Field::text("code")];
const DECISION: &[Field] = &[Field::choice("confirmed")];
const NOTHING: &[Field] = &[];

static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/servers/{serverId}/start",
        "/api/manage/servers/{serverId}/start",
        NOTHING,
        SERVER,
        "Started",
    ),
    Action::post(
        "/n/{network}/servers/{serverId}/stop",
        "/api/manage/servers/{serverId}/stop",
        NOTHING,
        SERVER,
        "Stopped",
    ),
    Action::post(
        "/n/{network}/servers/{serverId}/restart",
        "/api/manage/servers/{serverId}/restart",
        NOTHING,
        SERVER,
        "Restarted",
    ),
    Action::post(
        "/n/{network}/servers/{serverId}/kill",
        "/api/manage/servers/{serverId}/kill",
        NOTHING,
        SERVER,
        "Killed",
    )
    .confirm("serverId"),
    Action::post(
        "/n/{network}/servers/{serverId}/console",
        "/api/manage/servers/{serverId}/console",
        LINE,
        SERVER,
        "Sent",
    ),
    Action::post(
        "/n/{network}/servers/{serverId}/command",
        "/api/manage/servers/{serverId}/command",
        COMMAND,
        SERVER,
        "Sent",
    )
    .show(),
    Action::post(
        "/n/{network}/punishments/new",
        "/api/plugin/punishments/create-by-name",
        PUNISHMENT,
        "/n/{network}/punishments/new",
        "",
    )
    .go("/n/{network}/punishments?player={playerName}", "Punished"),
    Action::post(
        "/n/{network}/punishments/new/preview",
        "/api/plugin/punishments/preview",
        PUNISHMENT,
        "/n/{network}/punishments/new",
        "",
    )
    .show(),
    Action::post(
        "/n/{network}/punishments/revoke",
        "/api/plugin/punishments/remove",
        REVOKED,
        "/n/{network}/punishments",
        "Revoked",
    ),
    // First it is shown what goes, then the name is typed.
    Action::post(
        "/n/{network}/punishments/all/show",
        "/api/manage/punishments/revoke",
        ISSUER,
        "/n/{network}/punishments",
        "",
    )
    .show(),
    Action::post(
        "/n/{network}/punishments/all",
        "/api/manage/punishments/revoke",
        ISSUER,
        "/n/{network}/punishments",
        "",
    )
    .confirm("issuerName")
    .go("/n/{network}/punishments", "Revoked"),
    Action::post(
        "/n/{network}/players/{uuid}/punishments/revoke",
        "/api/plugin/punishments/remove",
        REVOKED,
        "/n/{network}/players/{uuid}/punishments",
        "Revoked",
    ),
    Action::post("/n/{network}/keys", "/api/manage/keys", KEY, "/n/{network}/keys", "").show(),
    Action::post("/n/{network}/servers/connect", "/api/manage/keys", KEY, "/n/{network}/servers/connect", "").show(),
    Action::post("/n/{network}/keys/{keyId}/roll", "/api/manage/keys/{keyId}/roll", ROLLED, "/n/{network}/keys", "")
        .show(),
    Action::post(
        "/n/{network}/keys/{keyId}/revoke",
        "/api/manage/keys/{keyId}",
        NOTHING,
        "/n/{network}/keys",
        "Revoked",
    )
    .verb(Verb::Delete),
    Action::post("/n/{network}/staff", "/api/manage/people", INVITATION, "/n/{network}/staff", "Invited"),
    Action::post(
        "/n/{network}/staff/{personId}/role",
        "/api/manage/people/{personId}",
        ROLE,
        "/n/{network}/staff",
        "Changed",
    )
    .verb(Verb::Patch),
    Action::post(
        "/n/{network}/staff/{personId}/remove",
        "/api/manage/people/{personId}",
        NOTHING,
        "/n/{network}/staff",
        "Removed",
    )
    .verb(Verb::Delete),
    Action::post(
        "/n/{network}/staff/invitations/{invitationId}/revoke",
        "/api/manage/people/invitations/{invitationId}",
        NOTHING,
        "/n/{network}/staff",
        "Revoked",
    )
    .verb(Verb::Delete),
    Action::post(
        "/n/{network}/modules/rollback/{point}",
        "/api/manage/extension-points/{point}/rollback",
        NOTHING,
        "/n/{network}/modules",
        "Rolled back",
    ),
    Action::post("/hub/networks", "/api/admin/networks", NETWORK, "/hub", "").show(),
    Action::post("/hub/networks/{id}/people", "/api/admin/networks/{id}/people", INVITATION, "/hub", "Invited"),
    Action::post("/hub/waitlist/invite", "/api/admin/waitlist/{email}/invite", INVITED, "/hub/waitlist", "Invited"),
    Action::post(
        "/n/{network}/players/{uuid}/notes",
        "/api/manage/players/{uuid}/notes",
        NOTE,
        "/n/{network}/players/{uuid}",
        "Saved",
    ),
    Action::post(
        "/n/{network}/players/{uuid}/erase",
        "/api/manage/players/{uuid}",
        NOTHING,
        "/n/{network}/players/{uuid}",
        "",
    )
    .verb(Verb::Delete)
    .confirm("uuid")
    .go("/n/{network}/players", "Erased"),
    Action::post("/hub/people", "/api/admin/people", EMAIL, "/hub/people", "Invited"),
    Action::post("/me/sessions/{sessionId}/end", "/api/people/sessions/{sessionId}", NOTHING, "/me", "Session ended")
        .verb(Verb::Delete),
    Action::post("/me/sessions/end", "/api/people/sign-out-elsewhere", NOTHING, "/me", "Signed out elsewhere"),
    Action::post("/me/password", "/api/people/password", PASSWORDS, "/me", "Password changed"),
    Action::post("/me/second-factor", "/api/people/second-factor", PASSWORD, "/me", "").show(),
    Action::post("/me/second-factor/confirm", "/api/people/second-factor/confirm", CODE, "/me", "").show(),
    Action::post(
        "/me/second-factor/disable",
        "/api/people/second-factor/disable",
        PASSWORD_AND_CODE,
        "/me",
        "Second factor removed",
    ),
    Action::post("/me/device", "/api/people/devices/{userCode}", DECISION, "/me/device", "Decided"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Then;
    use crate::visit::DONE;

    #[test]
    fn forms_return_to_pages_that_exist() {
        for action in actions() {
            assert!(all().any(|page| page.at == action.page), "{} has no page {}", action.at, action.page);
            if let Then::Go(_, word) = action.then {
                assert!(DONE.contains(&word), "no page says {word}");
            }
        }
    }
}
