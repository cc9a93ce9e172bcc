//! Groups and what players may do.

use reqwest::{Method, StatusCode};
use uuid::Uuid;

use super::players::was_found;
use crate::model::{EffectivePermissions, PermissionGroup, PermissionGroupUpdate, PermissionNode, PermissionNodeInput};
use crate::{HubClient, HubError};

impl HubClient {
    /// Returns a player's effective permissions, groups included. `context` is where they are, as `server=lobby,gamemode=skyblock`.
    pub async fn get_effective_permissions(
        &self,
        player: Uuid,
        context: Option<&str>,
    ) -> Result<EffectivePermissions, HubError> {
        let request = self.plugin(Method::GET, &["permissions", "users", &player.to_string(), "effective"]);
        request.query_if("context", context).send().await
    }

    /// The same with the tag of an answer that is still kept: answers the permissions, or none where they are still those, and their tag.
    pub(crate) async fn refresh_effective_permissions(
        &self,
        player: Uuid,
        context: Option<&str>,
        etag: Option<&str>,
    ) -> Result<(Option<EffectivePermissions>, Option<String>), HubError> {
        let mut request = self.plugin(Method::GET, &["permissions", "users", &player.to_string(), "effective"]);
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        let answer = request.query_if("context", context).answer().await?;
        let tag = answer.header("etag");
        if answer.status == StatusCode::NOT_MODIFIED {
            return Ok((None, tag.or_else(|| etag.map(str::to_owned))));
        }
        Ok((Some(answer.json()?), tag))
    }

    /// All groups.
    pub async fn list_permission_groups(&self) -> Result<Vec<PermissionGroup>, HubError> {
        self.plugin(Method::GET, &["permissions", "groups"]).send().await
    }

    /// Creates or replaces a group.
    pub async fn put_permission_group(&self, group_id: &str, group: &PermissionGroupUpdate) -> Result<(), HubError> {
        self.plugin(Method::PUT, &["permissions", "groups", group_id]).json(group).run().await
    }

    /// Deletes a group; returns whether it existed.
    pub async fn delete_permission_group(&self, group_id: &str) -> Result<bool, HubError> {
        was_found(self.plugin(Method::DELETE, &["permissions", "groups", group_id]).run().await)
    }

    /// A player's own nodes, without those of groups.
    pub async fn list_player_permissions(&self, player: Uuid) -> Result<Vec<PermissionNode>, HubError> {
        self.plugin(Method::GET, &["permissions", "users", &player.to_string(), "permissions"]).send().await
    }

    /// Gives a player a node; one of the same name, context and world is replaced.
    pub async fn add_player_permission(&self, player: Uuid, node: &PermissionNodeInput) -> Result<(), HubError> {
        let request = self.plugin(Method::POST, &["permissions", "users", &player.to_string(), "permissions"]);
        request.json(node).safe().run().await
    }

    /// Takes a node from a player.
    pub async fn remove_player_permission(&self, player: Uuid, node: &PermissionNodeInput) -> Result<(), HubError> {
        let segments = ["permissions", "users", &player.to_string(), "permissions", "remove"];
        self.plugin(Method::POST, &segments).json(node).safe().run().await
    }
}
