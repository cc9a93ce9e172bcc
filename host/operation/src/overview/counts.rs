//! Numbers of what waits for a person.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Caller, Scope};
use crate::clock::Millis;
use crate::modules::service::{LetterPile, letter_piles};
use crate::overview::COUNTED;
use crate::{appeals, deliveries, reports};

/// Numbers of what waits for a person; null for what the caller may not read. Each is counted up to 1,000.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingCounts)]
pub(super) struct Counts {
    /// OPEN reports.
    #[schema(example = 3)]
    reports: Option<i64>,
    /// OPEN appeals.
    #[schema(example = 1)]
    appeals: Option<i64>,
    /// HELD deliveries.
    #[schema(example = 0)]
    deliveries: Option<i64>,
    /// Dead letters of modules.
    #[schema(example = 0)]
    dead_letters: Option<i64>,
}

/// Things that wait for a person, with the times of the oldest.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) reports: Option<(i64, Option<Millis>)>,
    pub(super) appeals: Option<(i64, Option<Millis>)>,
    pub(super) deliveries: Option<(i64, Option<Millis>)>,
    pub(super) dead_letters: Option<Vec<LetterPile>>,
}

impl Waiting {
    /// Counts what the caller may read.
    pub(super) async fn of(app: &App, caller: &Caller) -> Result<Self, hub_db::Error> {
        let network = caller.network;
        let may = |scope| caller.scopes.allow(scope) || caller.scopes.allow(Scope::NetworkManage);
        let mut waiting = Self::default();
        if may(Scope::ReportsManage) {
            waiting.reports = Some(reports::service::open(app, network, COUNTED).await?);
        }
        if may(Scope::PunishmentsManage) {
            waiting.appeals = Some(appeals::service::open(app, network, COUNTED).await?);
        }
        if caller.reads_deliveries() {
            waiting.deliveries = Some(deliveries::service::held(app, network, COUNTED).await?);
        }
        if caller.scopes.allow(Scope::ModulesRead) {
            waiting.dead_letters = Some(letter_piles(app, network, COUNTED).await?);
        }
        Ok(waiting)
    }

    pub(super) fn counts(&self) -> Counts {
        let number = |pile: Option<(i64, Option<Millis>)>| pile.map(|(count, _)| count);
        let letters = |piles: &Vec<LetterPile>| piles.iter().map(|pile| pile.count).sum::<i64>().min(COUNTED);
        Counts {
            reports: number(self.reports),
            appeals: number(self.appeals),
            deliveries: number(self.deliveries),
            dead_letters: self.dead_letters.as_ref().map(letters),
        }
    }
}
