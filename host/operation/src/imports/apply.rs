//! Writes the records of a file in batches. The changes of each record are planned first, outside of any transaction;
//! one transaction then writes the changes and the import's position.

use std::collections::{HashMap, VecDeque};

use hub_db::Tx;
use thiserror::Error;

use crate::app::App;
use crate::config_documents::{self, DocumentImport};
use crate::economy::service::EconomyError;
use crate::economy::{self, Amount, BalanceImport, PlannedBalance};
use crate::import_outcome::ImportOutcome;
use crate::imports::model::Import;
use crate::imports::record::{Item, Record, Remark, SourceKey};
use crate::imports::report::Outcome;
use crate::imports::store;
use crate::limits::{self, Limit, QuotaExceeded};
use crate::permissions::service::PermissionsError;
use crate::permissions::{self, GroupImport, Node};
use crate::punishments::service::PunishmentsError;
use crate::punishments::{self, ImportedPunishment, ImportedRevocation, Sighting, Target};
use crate::values::PlayerId;

/// Reason for failing to write a batch.
#[derive(Debug, Error)]
pub(super) enum ApplyError {
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed; the batch is retried.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PermissionsError> for ApplyError {
    fn from(error: PermissionsError) -> Self {
        match error {
            PermissionsError::Quota(exceeded) => Self::Quota(exceeded),
            PermissionsError::Database(error) => Self::Database(error),
            PermissionsError::UnknownGroup(_) | PermissionsError::Changed { .. } | PermissionsError::TooLarge => {
                Self::Database(hub_db::Error::NotFound)
            }
        }
    }
}

impl From<PunishmentsError> for ApplyError {
    fn from(error: PunishmentsError) -> Self {
        match error {
            PunishmentsError::Quota(exceeded) => Self::Quota(exceeded),
            PunishmentsError::Database(error) => Self::Database(error),
            PunishmentsError::Unknown(_)
            | PunishmentsError::NotFound(_)
            | PunishmentsError::Changed(_)
            | PunishmentsError::NotActive
            | PunishmentsError::NotShorter
            | PunishmentsError::Rejected(_) => Self::Database(hub_db::Error::NotFound),
        }
    }
}

impl From<EconomyError> for ApplyError {
    fn from(error: EconomyError) -> Self {
        match error {
            EconomyError::Quota(exceeded) => Self::Quota(exceeded),
            EconomyError::Database(error) => Self::Database(error),
            EconomyError::Bounds(_)
            | EconomyError::Changed(_)
            | EconomyError::Refused { .. }
            | EconomyError::Rejected(_)
            | EconomyError::Session(_) => Self::Database(hub_db::Error::NotFound),
        }
    }
}

/// A planned write.
#[derive(Debug)]
enum Change<'i> {
    Group(&'i GroupImport),
    Nodes { player: PlayerId, nodes: Vec<Node> },
    Punishment { key: &'i SourceKey, punishment: &'i ImportedPunishment },
    Revocation { id: i64, revocation: &'i ImportedRevocation },
    Sighting(Sighting<'i>),
    Balance { player: PlayerId, add: Amount, key: SourceKey, amount: Amount },
    Document(&'i DocumentImport),
}

/// Planned outcomes and writes of a batch.
#[derive(Debug, Default)]
pub(super) struct Plan<'i> {
    pub(super) outcomes: Vec<Outcome>,
    changes: Vec<Change<'i>>,
    /// Numbers of nodes, and of players without earlier nodes.
    new_nodes: (i64, i64),
    new_documents: i64,
    new_punishments: i64,
    new_balances: i64,
}

/// Maximum number of targets whose counts are kept in memory.
const MOST_TARGETS: usize = 200_000;

/// Number of punishments per target, read once per target. A dry run adds its own.
#[derive(Debug, Default)]
pub(super) struct TargetCounts(HashMap<String, i64>);

/// Plans the changes of records.
pub(super) async fn plan<'i>(
    app: &App,
    import: &Import,
    items: &'i [Item],
    targets: &mut TargetCounts,
) -> Result<Plan<'i>, ApplyError> {
    if targets.0.len() > MOST_TARGETS {
        targets.0.clear();
    }
    let mut planner = Planner {
        app,
        import,
        known: known(app, import, items).await?,
        targets: &mut targets.0,
        balances: VecDeque::new(),
        sightings: VecDeque::new(),
    };
    let sightings: Vec<_> = items.iter().filter_map(sighting).collect();
    planner.sightings = punishments::plan_sightings(app, import.network, &sightings).await?.into();
    planner.plan_balances(items).await?;
    let mut plan = Plan::default();
    let open = planner.open_punishments(items).await?;
    for item in items {
        let outcome = match &item.record {
            Record::Group(group) => planner.group(group, &mut plan).await?,
            Record::Player { player, nodes } => planner.player(*player, nodes, &mut plan).await?,
            Record::Punishment { key, punishment } => planner.punishment(key, punishment, &open, &mut plan).await?,
            Record::Sighting { .. } => {
                let outcome = planner.sightings.pop_front().unwrap_or(ImportOutcome::Unchanged);
                if outcome != ImportOutcome::Unchanged {
                    plan.changes.extend(sighting(item).map(Change::Sighting));
                }
                Outcome::Imported(outcome)
            }
            Record::Track(track) => planner.track(track, &mut plan).await?,
            Record::Balance { player, amount } => planner.balance(*player, *amount, &mut plan),
            Record::Skipped(_) | Record::Table(_) => Outcome::Skipped(None),
        };
        plan.outcomes.push(outcome);
    }
    Ok(plan)
}

/// Source key of a balance.
fn balance_key(import: &Import, player: PlayerId) -> SourceKey {
    let currency = import.options.currency.as_ref().map_or("", |currency| currency.as_str());
    SourceKey { source: format!("balances:{currency}"), key: player.to_string() }
}

/// Results of earlier imports for these records, by source and key.
async fn known(app: &App, import: &Import, items: &[Item]) -> Result<HashMap<(String, String), i64>, hub_db::Error> {
    let mut by_source = HashMap::<String, Vec<String>>::new();
    for item in items {
        let SourceKey { source, key } = match &item.record {
            Record::Punishment { key, .. } => key.clone(),
            Record::Balance { player, .. } => balance_key(import, *player),
            _ => continue,
        };
        by_source.entry(source).or_default().push(key);
    }
    let mut known = HashMap::new();
    for (source, keys) in by_source {
        let keys: Vec<_> = keys.iter().map(String::as_str).collect();
        let found = store::known(&app.db, import.network, &source, &keys).await?;
        known.extend(found.into_iter().map(|(key, value)| ((source.clone(), key), value)));
    }
    Ok(known)
}

struct Planner<'p> {
    app: &'p App,
    import: &'p Import,
    known: HashMap<(String, String), i64>,
    /// Number of punishments per target, including this batch.
    targets: &'p mut HashMap<String, i64>,
    /// Plans of the balances, in the order of their records.
    balances: VecDeque<PlannedBalance>,
    /// Effects of the sightings, in the same order.
    sightings: VecDeque<ImportOutcome>,
}

fn sighting(item: &Item) -> Option<Sighting<'_>> {
    match &item.record {
        Record::Sighting { player, name, address, at } => {
            Some(Sighting { player: *player, name: name.as_deref(), address: address.as_ref(), at: *at })
        }
        _ => None,
    }
}

/// Skips a record that exceeds a limit of its own target; any other error fails the batch.
fn skip_over_bound(
    result: Result<ImportOutcome, PermissionsError>,
    subject: impl std::fmt::Display,
) -> Result<Outcome, ApplyError> {
    match result {
        Ok(outcome) => Ok(Outcome::Imported(outcome)),
        Err(PermissionsError::Quota(exceeded)) => {
            Ok(Outcome::Skipped(Some(Remark::new(subject, exceeded.to_string()))))
        }
        Err(error) => Err(error.into()),
    }
}

impl Planner<'_> {
    fn known(&self, key: &SourceKey) -> Option<i64> {
        self.known.get(&(key.source.clone(), key.key.clone())).copied()
    }

    async fn group<'i>(&self, group: &'i GroupImport, plan: &mut Plan<'i>) -> Result<Outcome, ApplyError> {
        let planned = permissions::plan_group(self.app, self.import.network, group).await;
        if planned.as_ref().is_ok_and(|outcome| *outcome != ImportOutcome::Unchanged) {
            plan.changes.push(Change::Group(group));
        }
        skip_over_bound(planned, format_args!("group {}", group.id))
    }

    async fn track<'i>(&self, track: &'i DocumentImport, plan: &mut Plan<'i>) -> Result<Outcome, ApplyError> {
        let pending = plan.new_documents;
        match config_documents::plan_document(self.app, self.import.network, track, pending).await {
            Ok(outcome) => {
                plan.new_documents += i64::from(outcome == ImportOutcome::Created);
                if outcome != ImportOutcome::Unchanged {
                    plan.changes.push(Change::Document(track));
                }
                Ok(Outcome::Imported(outcome))
            }
            Err(ApplyError::Quota(exceeded)) => {
                Ok(Outcome::Skipped(Some(Remark::new(format_args!("track {}", track.namespace), exceeded.to_string()))))
            }
            Err(error) => Err(error),
        }
    }

    async fn player(&self, player: PlayerId, nodes: &[Node], plan: &mut Plan<'_>) -> Result<Outcome, ApplyError> {
        let planned = permissions::plan_nodes(self.app, self.import.network, player, nodes).await;
        let planned = planned.map(|(outcome, different, new)| {
            if different.is_empty() {
                return ImportOutcome::Unchanged;
            }
            plan.new_nodes.0 += new;
            plan.new_nodes.1 += i64::from(outcome == ImportOutcome::Created);
            plan.changes.push(Change::Nodes { player, nodes: different });
            outcome
        });
        skip_over_bound(planned, format_args!("user {player}"))
    }

    /// Active punishments here that were revoked in the source.
    async fn open_punishments(&self, items: &[Item]) -> Result<Vec<i64>, hub_db::Error> {
        let revoked = items.iter().filter_map(|item| match &item.record {
            Record::Punishment { key, punishment } if punishment.revocation.is_some() => self.known(key),
            _ => None,
        });
        let revoked: Vec<_> = revoked.collect();
        punishments::open_ones(self.app, self.import.network, &revoked).await
    }

    async fn punishment<'i>(
        &mut self,
        key: &'i SourceKey,
        punishment: &'i ImportedPunishment,
        open: &[i64],
        plan: &mut Plan<'i>,
    ) -> Result<Outcome, ApplyError> {
        if let Some(id) = self.known(key) {
            let Some(revocation) = punishment.revocation.as_ref().filter(|_| open.contains(&id)) else {
                return Ok(Outcome::Imported(ImportOutcome::Unchanged));
            };
            plan.changes.push(Change::Revocation { id, revocation });
            return Ok(Outcome::Imported(ImportOutcome::Changed));
        }
        // Ensures that a duplicate record in the file is written once.
        self.known.insert((key.source.clone(), key.key.clone()), 0);
        let target = match &punishment.target {
            Target::Player { id, .. } => id.to_string(),
            Target::Name { name, .. } => name.to_lowercase(),
            Target::Address(address) => address.as_str().to_owned(),
        };
        let used = match self.targets.get(&target) {
            Some(used) => *used,
            None => punishments::count_of_target(self.app, self.import.network, &punishment.target).await?,
        };
        let refused = limits::check(self.app, Limit::PunishmentsPerPlayer, used, 1);
        self.targets.insert(target, used + i64::from(refused.is_ok()));
        if let Err(exceeded) = refused {
            let subject = format!("{} {}", key.source, key.key);
            return Ok(Outcome::Skipped(Some(Remark::new(subject, exceeded.to_string()))));
        }
        plan.new_punishments += 1;
        plan.changes.push(Change::Punishment { key, punishment });
        Ok(Outcome::Imported(ImportOutcome::Created))
    }

    async fn plan_balances(&mut self, items: &[Item]) -> Result<(), hub_db::Error> {
        let Some(currency) = &self.import.options.currency else { return Ok(()) };
        let imports: Vec<_> = items
            .iter()
            .filter_map(|item| match item.record {
                Record::Balance { player, amount } => {
                    let imported_before = self.known(&balance_key(self.import, player));
                    Some(BalanceImport { player, amount, imported_before })
                }
                _ => None,
            })
            .collect();
        self.balances = economy::plan_balances(self.app, self.import.network, currency, &imports).await?.into();
        Ok(())
    }

    fn balance(&mut self, player: PlayerId, amount: Amount, plan: &mut Plan<'_>) -> Outcome {
        let key = balance_key(self.import, player);
        let imported_before = self.known(&key);
        match self.balances.pop_front() {
            None => Outcome::Skipped(None),
            Some(PlannedBalance::OutOfBounds) => Outcome::Skipped(Some(Remark::new(
                format_args!("player {player}"),
                "The balance would be outside its currency's bounds; first define the currency with other bounds.",
            ))),
            Some(PlannedBalance::Add { amount: add, outcome, is_new }) => {
                let is_known = imported_before == Some(amount.ten_thousandths());
                if !is_known {
                    plan.new_balances += i64::from(is_new);
                    plan.changes.push(Change::Balance { player, add, key, amount });
                }
                Outcome::Imported(if is_known { ImportOutcome::Unchanged } else { outcome })
            }
        }
    }
}

impl Plan<'_> {
    /// Checks the network's limits.
    pub(super) async fn check(&self, app: &App, import: &Import) -> Result<(), ApplyError> {
        permissions::check_new_nodes(app, import.network, self.new_nodes).await?;
        punishments::check_new(app, import.network, self.new_punishments).await?;
        economy::check_new_balances(app, import.network, self.new_balances).await?;
        Ok(())
    }

    /// Writes the changes.
    pub(super) async fn write(&self, app: &App, tx: &mut Tx, import: &Import) -> Result<(), ApplyError> {
        let network = import.network;
        let new: Vec<_> = self
            .changes
            .iter()
            .filter_map(|change| match change {
                Change::Punishment { key, punishment } => Some((*key, *punishment)),
                _ => None,
            })
            .collect();
        let mut made = HashMap::new();
        if !new.is_empty() {
            let punishments: Vec<_> = new.iter().map(|(_, punishment)| *punishment).collect();
            let first = punishments::write_imported(app, tx, network, &punishments).await?;
            made.extend((first..).zip(&new).map(|(id, (key, _))| (*key, id)));
        }
        let (mut balances, mut sightings) = (vec![], vec![]);
        for change in &self.changes {
            match change {
                Change::Punishment { .. } => {}
                Change::Document(document) => {
                    config_documents::write_document(app, tx, network, document).await?;
                }
                Change::Group(group) => permissions::write_group(app, tx, network, group).await?,
                Change::Nodes { player, nodes } => permissions::write_nodes(app, tx, network, *player, nodes).await?,
                Change::Revocation { id, revocation } => {
                    punishments::revoke_imported(app, tx, network, *id, revocation).await?;
                }
                Change::Sighting(sighting) => sightings.push(*sighting),
                Change::Balance { player, add, key, amount } => {
                    balances.push((*player, *add));
                    made.insert(key, amount.ten_thousandths());
                }
            }
        }
        punishments::write_sightings(app, tx, network, &sightings).await?;
        if let Some(currency) = &import.options.currency {
            let reason = format!("import {}", import.id);
            economy::write_balances(app, tx, network, (currency, &balances), (&import.key, &reason)).await?;
        }
        Ok(store::remember(tx, network, &made).await?)
    }
}
