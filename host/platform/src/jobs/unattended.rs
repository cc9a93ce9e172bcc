//! Runs jobs in commands, without a hub or beside one.

use hub_db::{Db, Error};

use crate::clock::{Clock, Millis};
use crate::ids::Ids;
use crate::jobs::kind::{JobKind, JobOutcome};
use crate::jobs::lease::{lease_end, renew_until_lost};
use crate::jobs::model::Job;
use crate::jobs::store::{self, Lease};
use crate::values::NetworkId;

/// Runs jobs of a kind in a command.
pub struct Unattended<'a> {
    pub db: &'a Db,
    pub clock: &'a Clock,
    pub ids: &'a Ids,
    pub kind: &'static JobKind,
}

impl Unattended<'_> {
    /// Runs all jobs, due or not, while no hub runs. Ends at the first that fails.
    pub async fn run_all<E: From<Error>>(&self, run: impl AsyncFn(&Job) -> Result<JobOutcome, E>) -> Result<(), E> {
        let node = self.ids.token(16);
        // In turn: nothing else runs.
        for network in store::due_networks(self.db, self.kind.name, Millis::MAX).await? {
            while let Some(job) =
                store::claim(self.db, self.kind.name, (network, &[]), Millis::MAX, &self.lease(&node)).await?
            {
                self.run(&job, &run).await?;
            }
        }
        Ok(())
    }

    /// Runs a job that is due, unless a node has it.
    pub async fn run_one<E: From<Error>>(
        &self,
        network: NetworkId,
        key: &str,
        run: impl AsyncFn(&Job) -> Result<JobOutcome, E>,
    ) -> Result<(), E> {
        let (node, now) = (self.ids.token(16), self.clock.now());
        match store::claim_key(self.db, self.kind.name, (network, key), now, &self.lease(&node)).await? {
            Some(job) => self.run(&job, &run).await,
            None => Ok(()),
        }
    }

    fn lease<'n>(&self, node: &'n str) -> Lease<'n> {
        Lease { node, id: self.ids.uuid(), until: lease_end(self.clock) }
    }

    async fn run<E: From<Error>>(&self, job: &Job, run: &impl AsyncFn(&Job) -> Result<JobOutcome, E>) -> Result<(), E> {
        let outcome = tokio::select! {
            outcome = hub_db::with_tenant(job.network.0, run(job)) => outcome?,
            () = renew_until_lost(self.db, self.clock, job, || true) => return Ok(()),
        };
        Ok(store::end(self.db, job, self.clock.now(), outcome).await?)
    }
}
