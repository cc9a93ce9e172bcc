//! The input and the answer of matchmaking calls.

use crate::contract::matchmaking::{MatchRequest, Refusal, ServerCandidate, WorldCandidate};
use crate::texts::{CandidateTexts, SelectedTexts};
use std::sync::Arc;

/// Answer of a matchmaking call: indices, best first, or the refusal.
pub type RankAnswer = Result<Vec<u32>, Refusal>;

/// The input of a matchmaking call.
pub struct Candidates<C> {
    pub(super) request: Arc<MatchRequest>,
    list: Vec<C>,
    pub(super) texts: Arc<dyn CandidateTexts>,
}

impl<C: Candidate> Candidates<C> {
    /// The request, and the candidates in the built-in order, which are numbered here. `texts` has them by their
    /// positions.
    pub fn new(request: Arc<MatchRequest>, mut list: Vec<C>, texts: Arc<dyn CandidateTexts>) -> Self {
        for (index, candidate) in (0..).zip(&mut list) {
            candidate.set_index(index);
        }
        Self { request, list, texts }
    }

    /// The request of the player.
    pub fn request(&self) -> &MatchRequest {
        &self.request
    }

    /// The candidate servers or worlds.
    pub fn candidates(&self) -> &[C] {
        &self.list
    }

    /// The candidates' texts.
    pub fn texts(&self) -> &dyn CandidateTexts {
        &*self.texts
    }

    /// The candidates at these positions, in this order: the input of a chain's next module.
    pub(super) fn select(&self, positions: &[u32]) -> Self {
        let positions: Vec<_> = positions.iter().map(|&position| position as usize).collect();
        let selected = positions.iter().filter_map(|&position| self.list.get(position).copied());
        let list = selected.collect();
        let texts = Arc::new(SelectedTexts { texts: Arc::clone(&self.texts), positions });
        Self::new(Arc::clone(&self.request), list, texts)
    }
}

/// A server or world that can be ranked.
pub trait Candidate: Copy + Send + Sync + 'static {
    /// Sets its position in the list.
    fn set_index(&mut self, index: u32);
}

impl Candidate for ServerCandidate {
    fn set_index(&mut self, index: u32) {
        self.index = index;
    }
}

impl Candidate for WorldCandidate {
    fn set_index(&mut self, index: u32) {
        self.index = index;
    }
}
