//! Things of a network by their names.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Caller, Scope};
use crate::http::error::ApiError;
use crate::values::PlayerId;
use crate::{config_documents, modules, permissions, players, presence};

/// Kind of a found thing, by which its page is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = FoundKind)]
pub(super) enum Kind {
    Server,
    Player,
    /// A group of permissions.
    Group,
    Module,
    /// A config document. Its id is its group and its name, with a slash between them.
    Document,
}

/// A found thing.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = FoundThing)]
pub(super) struct Found {
    kind: Kind,
    #[schema(example = "lobby-1")]
    id: String,
    /// Name to show.
    #[schema(example = "Lobby")]
    name: String,
    /// Null for what is neither on- nor offline.
    online: Option<bool>,
}

impl Found {
    fn new(kind: Kind, id: impl Into<String>, name: Option<String>) -> Self {
        let id = id.into();
        Self { kind, name: name.unwrap_or_else(|| id.clone()), id, online: None }
    }

    /// Rank of a match: the whole name, its beginning, or a part of it.
    fn rank(&self, text: &str) -> u8 {
        let names = [self.name.to_lowercase(), self.id.to_lowercase()];
        if names.iter().any(|name| name == text) {
            0
        } else if names.iter().any(|name| name.starts_with(text)) {
            1
        } else {
            2
        }
    }
}

/// Things with a text in their names that the caller may list, at most `most`: the best matches first.
pub(super) async fn search(app: &App, caller: &Caller, text: &str, most: i64) -> Result<Vec<Found>, ApiError> {
    let (network, text) = (caller.network, text.trim().to_lowercase());
    if text.is_empty() {
        return Ok(vec![]);
    }
    let may = |any: &[Scope]| any.iter().any(|scope| caller.scopes.allow(*scope));
    let mut found = vec![];
    if may(&[Scope::ServersRead, Scope::Plugin]) {
        let servers = presence::service::search(app, network, &text, most).await?;
        found.extend(servers.into_iter().map(|(id, name, is_online)| Found {
            online: Some(is_online),
            ..Found::new(Kind::Server, id.as_str(), name)
        }));
    }
    if may(&[Scope::PlayersRead, Scope::PlayersWrite, Scope::Plugin]) {
        found.extend(players(app, caller, &text, most).await?);
    }
    let is_named = |name: &str| name.to_lowercase().contains(&text);
    if may(&[Scope::ModulesRead]) {
        let names = modules::service::names(app, network).await?.into_iter().filter(|name| is_named(name));
        found.extend(names.map(|name| Found::new(Kind::Module, name, None)));
    }
    if may(&[Scope::PermissionsWrite, Scope::Plugin]) {
        let groups = permissions::service::group_names(app, network).await?.into_iter();
        let groups = groups.filter(|(id, name)| is_named(id) || name.as_deref().is_some_and(is_named));
        found.extend(groups.map(|(id, name)| Found::new(Kind::Group, id, name)));
    }
    if may(&[Scope::Plugin]) {
        let documents = config_documents::service::search(app, network, &text, most).await?;
        found.extend(
            documents.into_iter().map(|(group, name)| Found::new(Kind::Document, format!("{group}/{name}"), None)),
        );
    }
    // Of one rank they stay in this order.
    found.sort_by_key(|one| one.rank(&text));
    found.truncate(usize::try_from(most).unwrap_or(0));
    Ok(found)
}

/// Players by a part of their names, or the one with this UUID.
async fn players(app: &App, caller: &Caller, text: &str, most: i64) -> Result<Vec<Found>, ApiError> {
    let found = players::service::search(app, caller.network, text, most).await?;
    let player = |(id, name): (PlayerId, Option<String>)| {
        let online = presence::service::online_player(app, caller.network, id).is_some();
        Found { online: Some(online), ..Found::new(Kind::Player, id.to_string(), name) }
    };
    Ok(found.into_iter().map(player).collect())
}
