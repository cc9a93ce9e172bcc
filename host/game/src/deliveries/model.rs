//! A delivery and its life, without I/O.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::deliveries::values::ClaimText;
use crate::http::document::Document;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Duration of a claim.
pub(super) const CLAIM_TTL: Millis = 60_000;
/// Attempts after which a failed delivery is not tried again.
pub(super) const MAX_ATTEMPTS: i64 = 5;

/// State of a delivery.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum DeliveryState {
    /// Waits for its player.
    Pending,
    /// A server carries it out.
    Claimed,
    /// It happened.
    Delivered,
    /// Its claim was lost and it may have happened: a person decides.
    Held,
    /// It did not happen and is not tried again.
    Failed,
    /// It did not happen in time.
    Expired,
    /// A person took it back.
    Cancelled,
}

impl DeliveryState {
    /// Name in the API and the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// True if it may still happen.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Claimed | Self::Held)
    }
}

impl TryFrom<String> for DeliveryState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// Consequence of a lost claim.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = DeliveryOnLost)]
pub enum OnLost {
    /// It is offered again: it may happen twice.
    Retry,
    /// A person decides.
    #[default]
    Hold,
}

impl OnLost {
    /// Name in the API and the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for OnLost {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// Call that ended a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum ClaimEnd {
    Completed,
    /// Failed for good.
    Failed,
    /// Failed, to be tried again.
    Returned,
}

impl ClaimEnd {
    /// Name in the database.
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A claim, as its holder names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The claimed delivery.
    pub delivery: i64,
    pub(super) sha256: Vec<u8>,
}

impl Claim {
    /// Text of a claim of the delivery, with a secret.
    pub(super) fn text(delivery: i64, secret: &str) -> String {
        format!("{delivery}.{secret}")
    }

    /// None if the text is no claim of any delivery.
    pub fn parse(text: &ClaimText) -> Option<Self> {
        let (delivery, _) = text.as_str().split_once('.')?;
        Some(Self { delivery: delivery.parse().ok()?, sha256: Self::hash(text.as_str()) })
    }

    /// Stored form of it.
    pub fn sha256(&self) -> &[u8] {
        &self.sha256
    }

    /// Stored form of a claim's text.
    pub(super) fn hash(text: &str) -> Vec<u8> {
        Sha256::digest(text.as_bytes()).to_vec()
    }
}

/// Place at which a delivery may happen: a server that is online.
#[derive(Clone, Debug)]
pub struct Place {
    pub server_id: Identifier,
    pub server_type: Identifier,
}

/// Effect of the time on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// Nothing was due.
    Unchanged,
    /// It can be claimed from now on, or again.
    Pending,
    /// It has expired, or is held.
    Settled,
}

/// Error: the claim is wrong, has expired, or was settled otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleClaim;

/// Error: not possible in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPossible;

/// A delivery.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Delivery {
    pub network_id: NetworkId,
    /// Counted from 1 in its network.
    pub delivery_id: i64,
    /// None while nobody was seen with the name.
    pub player_uuid: Option<PlayerId>,
    pub player_name: Option<String>,
    pub kind: String,
    #[sqlx(try_from = "String")]
    pub payload: Document,
    /// Type of the servers at which it may happen.
    pub server_type: Option<String>,
    /// Server at which it may happen.
    pub server_id: Option<String>,
    #[sqlx(try_from = "String")]
    pub state: DeliveryState,
    /// Number of claims.
    pub attempts: i64,
    #[sqlx(try_from = "String")]
    pub on_lost: OnLost,
    pub reference: Option<String>,
    /// Reason for its last failure.
    pub reason: Option<String>,
    pub(super) claim_sha256: Option<Vec<u8>>,
    /// Name of a [`ClaimEnd`].
    pub(super) claim_end: Option<String>,
    pub claimed_by: Option<String>,
    pub claimed_until: Option<Millis>,
    pub created_at: Millis,
    pub not_before: Option<Millis>,
    pub expires_at: Option<Millis>,
    pub settled_at: Option<Millis>,
    /// Time at which [`lapse`](Self::lapse) changes it.
    pub due_at: Option<Millis>,
}

impl Delivery {
    /// A pending delivery of nobody and with nothing.
    pub fn new(network: NetworkId, id: i64, kind: &str, now: Millis) -> Self {
        Self {
            network_id: network,
            delivery_id: id,
            player_uuid: None,
            player_name: None,
            kind: kind.to_owned(),
            payload: Document::null(),
            server_type: None,
            server_id: None,
            state: DeliveryState::Pending,
            attempts: 0,
            on_lost: OnLost::default(),
            reference: None,
            reason: None,
            claim_sha256: None,
            claim_end: None,
            claimed_by: None,
            claimed_until: None,
            created_at: now,
            not_before: None,
            expires_at: None,
            settled_at: None,
            due_at: None,
        }
    }

    /// Hash of the last claim until that is lost, and the call that ended it.
    pub fn claim(&self) -> (Option<&[u8]>, Option<&str>) {
        (self.claim_sha256.as_deref(), self.claim_end.as_deref())
    }

    /// True if its time has come and is not over.
    pub fn is_due(&self, now: Millis) -> bool {
        self.not_before.is_none_or(|at| at <= now) && !self.is_over(now)
    }

    /// True if its time is over.
    pub fn is_over(&self, now: Millis) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// True if it may happen there.
    pub fn fits(&self, place: &Place) -> bool {
        self.server_id.as_deref().is_none_or(|id| id == place.server_id.as_str())
            && self.server_type.as_deref().is_none_or(|kind| kind == place.server_type.as_str())
    }

    /// Starts a claim.
    pub fn start_claim(&mut self, server: &str, sha256: Vec<u8>, now: Millis) {
        let until = now.saturating_add(CLAIM_TTL);
        self.state = DeliveryState::Claimed;
        self.attempts = self.attempts.saturating_add(1);
        self.claim_sha256 = Some(sha256);
        self.claim_end = None;
        self.claimed_by = Some(server.to_owned());
        self.claimed_until = Some(until);
        self.due_at = Some(until);
    }

    /// True if the claim is good at `now`.
    pub fn is_held_by(&self, claim: &Claim, now: Millis) -> bool {
        self.state == DeliveryState::Claimed
            && self.claim_sha256.as_ref() == Some(&claim.sha256)
            && self.claimed_until.is_some_and(|until| now < until)
    }

    /// True if this claim was ended by this call, and nothing happened since.
    fn was_ended_by(&self, claim: &Claim, end: ClaimEnd) -> bool {
        self.state != DeliveryState::Claimed
            && self.claim_sha256.as_ref() == Some(&claim.sha256)
            && self.claim_end.as_deref() == Some(end.as_str())
    }

    /// Settles it as delivered. False if this claim did so before.
    pub fn complete(&mut self, claim: &Claim, now: Millis) -> Result<bool, StaleClaim> {
        if self.was_ended_by(claim, ClaimEnd::Completed) {
            return Ok(false);
        }
        if !self.is_held_by(claim, now) {
            return Err(StaleClaim);
        }
        self.end_claim(ClaimEnd::Completed);
        self.settle(DeliveryState::Delivered, now);
        Ok(true)
    }

    /// Ends a claim without success: it is offered again, or fails. False if this claim did so before.
    pub fn fail(
        &mut self,
        claim: &Claim,
        reason: Option<String>,
        retry: bool,
        now: Millis,
    ) -> Result<bool, StaleClaim> {
        let end = if retry { ClaimEnd::Returned } else { ClaimEnd::Failed };
        if self.was_ended_by(claim, end) {
            return Ok(false);
        }
        if !self.is_held_by(claim, now) {
            return Err(StaleClaim);
        }
        self.reason = reason;
        self.end_claim(end);
        if retry && self.attempts < MAX_ATTEMPTS {
            self.claimed_by = None;
            self.wait(now);
        } else {
            self.settle(DeliveryState::Failed, now);
        }
        Ok(true)
    }

    /// Records what the time has changed.
    pub fn lapse(&mut self, now: Millis) -> Lapse {
        if self.due_at.is_none_or(|at| now < at) {
            return Lapse::Unchanged;
        }
        match self.state {
            DeliveryState::Claimed if self.on_lost == OnLost::Hold => {
                self.claim_sha256 = None;
                self.claimed_until = None;
                self.state = DeliveryState::Held;
                self.due_at = None;
                Lapse::Settled
            }
            DeliveryState::Claimed | DeliveryState::Pending => {
                if self.state == DeliveryState::Claimed {
                    self.claim_sha256 = None;
                    self.claimed_by = None;
                    self.claimed_until = None;
                }
                if self.is_over(now) {
                    self.settle(DeliveryState::Expired, now);
                    return Lapse::Settled;
                }
                self.wait(now);
                Lapse::Pending
            }
            _ => {
                self.due_at = None;
                Lapse::Unchanged
            }
        }
    }

    /// Offers it again, by a person.
    pub fn retry(&mut self, now: Millis) -> Result<(), NotPossible> {
        if !matches!(self.state, DeliveryState::Held | DeliveryState::Failed) || self.is_over(now) {
            return Err(NotPossible);
        }
        self.attempts = 0;
        self.reason = None;
        self.claim_sha256 = None;
        self.claim_end = None;
        self.claimed_by = None;
        self.settled_at = None;
        self.wait(now);
        Ok(())
    }

    /// Takes it back, by a person.
    pub fn cancel(&mut self, now: Millis) -> Result<(), NotPossible> {
        if !matches!(self.state, DeliveryState::Pending | DeliveryState::Held) {
            return Err(NotPossible);
        }
        self.settle(DeliveryState::Cancelled, now);
        Ok(())
    }

    /// Settles a held one as delivered, by a person.
    pub fn confirm(&mut self, now: Millis) -> Result<(), NotPossible> {
        if self.state != DeliveryState::Held {
            return Err(NotPossible);
        }
        self.settle(DeliveryState::Delivered, now);
        Ok(())
    }

    fn end_claim(&mut self, end: ClaimEnd) {
        self.claim_end = Some(end.as_str().to_owned());
        self.claimed_until = None;
    }

    fn settle(&mut self, state: DeliveryState, now: Millis) {
        self.state = state;
        self.settled_at = Some(now);
        self.due_at = None;
    }

    fn wait(&mut self, now: Millis) {
        self.state = DeliveryState::Pending;
        self.due_at = self.next_due(now);
    }

    /// Time at which a pending one is due, or else over.
    pub(super) fn next_due(&self, now: Millis) -> Option<Millis> {
        self.not_before.filter(|at| now < *at).or(self.expires_at)
    }
}
