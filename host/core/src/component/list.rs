//! The list of all components, and what follows from it.

use std::collections::BTreeMap;

use utoipa::openapi::tag::{Tag as OpenApiTag, TagBuilder};
use utoipa::openapi::{OpenApi, PathItem};

use crate::app::App;
use crate::bounds::Limit;
use crate::component::{Component, Creations, ErrorCode, EventSchema, NetworkState, Tables, Undo};
use crate::endpoints::Endpoints;

/// All components, in the order in which they start.
pub struct Components {
    list: &'static [&'static Component],
    tables: Tables,
    network_states: Vec<&'static dyn NetworkState>,
}

impl Components {
    /// # Panics
    /// If a table is declared twice or is not in the schema.
    pub fn new(list: &'static [&'static Component]) -> Self {
        let network_states = list.iter().filter_map(|component| component.network_state).collect();
        Self { list, tables: Tables::new(list), network_states }
    }

    pub fn list(&self) -> &'static [&'static Component] {
        self.list
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// States that follow networks from owner to owner, in the order of restoration.
    pub fn network_states(&self) -> &[&'static dyn NetworkState] {
        &self.network_states
    }

    /// Things that people and keys leave behind.
    pub fn creations(&self) -> impl Iterator<Item = &'static dyn Creations> {
        self.list.iter().filter_map(|component| component.creations)
    }

    /// Kind of the changes with this action, if they can be undone.
    pub fn undo_of(&self, action: &str) -> Option<&'static Undo> {
        self.list.iter().flat_map(|component| component.undos).find(|undo| undo.action == action)
    }

    /// All routes.
    pub fn endpoints(&self) -> Endpoints {
        self.list.iter().fold(Endpoints::default(), |all, component| all.merge((component.routes)()))
    }

    /// All events with their payloads.
    pub fn event_schemas(&self) -> Vec<EventSchema> {
        self.list.iter().flat_map(|component| (component.events)()).collect()
    }

    /// All error codes.
    pub fn errors(&self) -> impl Iterator<Item = &'static ErrorCode> {
        self.list.iter().flat_map(|component| component.errors)
    }

    /// Limits that the documentation lists and that an operator can lower.
    pub fn limits(&self) -> impl Iterator<Item = Limit> {
        let declared = self.list.iter().flat_map(|component| component.limits);
        Limit::CONFIGURABLE.iter().chain(declared).copied()
    }

    /// Tags for a document: those of game servers' routes first, then of owners', of everyone's and of the operator's, each
    /// in the order of the list.
    pub fn tags(&self, document: &OpenApi) -> Vec<OpenApiTag> {
        let mut ranks = BTreeMap::<&str, usize>::new();
        for (path, item) in &document.paths.paths {
            let rank = ["/api/plugin/", "/api/manage/", "/api/admin/"].iter().position(|start| path.starts_with(start));
            // The operator's are the last.
            let rank = rank.map_or(2, |rank| if rank == 2 { 3 } else { rank });
            for tag in tags_of(item) {
                let lowest = ranks.entry(tag).or_insert(rank);
                *lowest = rank.min(*lowest);
            }
        }
        let mut tags: Vec<_> = self.list.iter().flat_map(|component| component.tags).collect();
        tags.sort_by_key(|tag| ranks.get(tag.0).copied().unwrap_or(usize::MAX));
        tags.into_iter().map(|tag| TagBuilder::new().name(tag.0).description(Some(tag.1)).build()).collect()
    }
}

fn tags_of(item: &PathItem) -> impl Iterator<Item = &str> {
    let operations = [&item.get, &item.put, &item.post, &item.delete, &item.patch];
    let tags = operations.into_iter().flatten().filter_map(|operation| operation.tags.as_ref());
    tags.flatten().map(String::as_str)
}

impl App {
    /// All components of the hub.
    pub fn components(&self) -> &'static Components {
        self.state::<&'static Components>()
    }
}
