//! The texts of matchmaking candidates, looked up only when a module asks for them.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A text of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateText {
    /// The id of the server, or of the world's server.
    ServerId,
    /// The type of the server, or of the world's server.
    ServerType,
    /// The display name of the server or world.
    DisplayName,
    /// The id of the world; empty for a server.
    WorldId,
    /// The type of the world; empty for a server.
    WorldType,
    /// The game state sent by the server.
    StateName,
}

/// Looks up the texts of one matchmaking call's candidates. Implement it over the candidates' source, so that nothing
/// is copied for a module that does not ask.
pub trait CandidateTexts: Send + Sync {
    /// A text of the candidate at that position of the input; `None` if there is no such candidate.
    fn text(&self, candidate: usize, text: CandidateText) -> Option<&str>;

    /// Name of a region's number; `None` if the number is not of this call.
    fn region_name(&self, region: u16) -> Option<&str>;

    /// Number of a region's name; `None` if neither a candidate nor the player is in it.
    fn region_number(&self, name: &str) -> Option<u16>;

    /// Approximate number of bytes that they keep alive.
    fn bytes(&self) -> usize;
}

/// Texts held in memory: for dry runs, replays and tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainTexts {
    /// One per candidate, in their order.
    pub candidates: Vec<PlainCandidate>,
    /// Region names; a region's number is its position.
    pub regions: Vec<String>,
}

/// The texts of one candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlainCandidate {
    /// See [`CandidateText::ServerId`].
    pub server_id: String,
    /// See [`CandidateText::ServerType`].
    pub server_type: String,
    /// See [`CandidateText::DisplayName`].
    pub display_name: String,
    /// See [`CandidateText::WorldId`].
    pub world_id: String,
    /// See [`CandidateText::WorldType`].
    pub world_type: String,
    /// See [`CandidateText::StateName`].
    pub state_name: String,
}

impl CandidateTexts for PlainTexts {
    fn text(&self, candidate: usize, text: CandidateText) -> Option<&str> {
        let candidate = self.candidates.get(candidate)?;
        Some(match text {
            CandidateText::ServerId => &candidate.server_id,
            CandidateText::ServerType => &candidate.server_type,
            CandidateText::DisplayName => &candidate.display_name,
            CandidateText::WorldId => &candidate.world_id,
            CandidateText::WorldType => &candidate.world_type,
            CandidateText::StateName => &candidate.state_name,
        })
    }

    fn region_name(&self, region: u16) -> Option<&str> {
        self.regions.get(usize::from(region)).map(String::as_str)
    }

    fn region_number(&self, name: &str) -> Option<u16> {
        let position = self.regions.iter().position(|region| region == name)?;
        u16::try_from(position).ok()
    }

    fn bytes(&self) -> usize {
        let of = |it: &PlainCandidate| {
            let texts =
                [&it.server_id, &it.server_type, &it.display_name, &it.world_id, &it.world_type, &it.state_name];
            size_of_val(it) + texts.map(String::len).iter().sum::<usize>()
        };
        self.candidates.iter().map(of).sum::<usize>() + self.regions.iter().map(String::len).sum::<usize>()
    }
}

/// Texts of some of another call's candidates, by their positions there.
pub(crate) struct SelectedTexts {
    pub(crate) texts: Arc<dyn CandidateTexts>,
    pub(crate) positions: Vec<usize>,
}

impl CandidateTexts for SelectedTexts {
    fn text(&self, candidate: usize, text: CandidateText) -> Option<&str> {
        self.texts.text(*self.positions.get(candidate)?, text)
    }

    fn region_name(&self, region: u16) -> Option<&str> {
        self.texts.region_name(region)
    }

    fn region_number(&self, name: &str) -> Option<u16> {
        self.texts.region_number(name)
    }

    /// Excludes the other call's texts, which are counted there.
    fn bytes(&self) -> usize {
        size_of_val(self.positions.as_slice())
    }
}
