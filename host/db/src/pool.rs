//! Pooled connections.
//!
//! sqlx's own pool pings a connection after every use, which costs about as much
//! as a short read itself. It also takes a connection back whose `BEGIN` was cancelled, with the
//! transaction open: the next caller's write would be acknowledged and never committed.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, timeout},
};

use crate::{
    Error,
    fair::{FairPermit, FairPermits},
    stats::PoolStats,
    tenant::{NO_TENANT, current_tenant},
};

/// Interval at which a pool that got no more connections from the server tries again.
const GROW_INTERVAL: Duration = Duration::from_millis(250);

/// Time for which the server counts as out of connections after it refused one.
const EXHAUSTED_FOR: Duration = Duration::from_secs(10);

/// Time limit of a ping. A connection whose packets are dropped on the way never answers.
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that is reusable after a caller left it in the middle of an operation.
pub(crate) trait Reusable: Sized + Send + 'static {
    /// Options to open it with.
    type Options: Send + Sync;
    /// Settings shared by a pool's connections.
    type Settings: Send + Sync;

    fn open(options: &Self::Options) -> impl Future<Output = sqlx::Result<Self>> + Send;

    /// True if the server has no more connections, for anybody.
    fn is_exhausted(error: &sqlx::Error) -> bool;

    fn ping(&mut self) -> impl Future<Output = sqlx::Result<()>> + Send;

    fn close(self) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Waits for statements still under way, and rolls back if a transaction may be open.
    fn recover(
        &mut self,
        settings: &Self::Settings,
        in_transaction: bool,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_connections: u32,
    /// Maximum wait for a connection.
    pub(crate) patience: Duration,
    /// A connection unused for longer is pinged before it is used: the server may have gone.
    pub(crate) ping_after: Duration,
    /// One unused for longer is closed.
    pub(crate) idle_timeout: Duration,
    /// One older than this is closed, so that a failover is noticed.
    pub(crate) max_lifetime: Duration,
    /// True if tenants leave connections for others; otherwise first come, first served.
    pub(crate) is_shared: bool,
}

/// Connections, opened as they are needed.
pub(crate) struct Pool<C: Reusable>(Arc<Shared<C>>);

struct Shared<C: Reusable> {
    options: C::Options,
    settings: C::Settings,
    limits: Limits,
    /// One for each connection.
    permits: FairPermits,
    idle: Mutex<Idle<C>>,
    /// Notified when a connection becomes idle.
    returned: Notify,
    /// Time at which the server last refused a connection because it has no more.
    exhausted_at: Mutex<Option<Instant>>,
}

struct Idle<C> {
    /// The one used last is at the back.
    connections: VecDeque<Entry<C>>,
    /// Connections opened before are not reused.
    valid_since: Instant,
}

struct Entry<C> {
    conn: C,
    opened_at: Instant,
    used_at: Instant,
}

impl<C: Reusable> Pool<C> {
    pub(crate) fn new(options: C::Options, settings: C::Settings, limits: Limits) -> Self {
        let total = limits.max_connections as usize;
        let permits = if limits.is_shared { FairPermits::new(total) } else { FairPermits::unshared(total) };
        let idle = Mutex::new(Idle { connections: VecDeque::new(), valid_since: Instant::now() });
        let (returned, exhausted_at) = (Notify::new(), Mutex::new(None));
        Self(Arc::new(Shared { options, settings, limits, permits, idle, returned, exhausted_at }))
    }

    /// A connection for the work of the current tenant.
    pub(crate) async fn acquire(&self) -> Result<Pooled<C>, Error> {
        let shared = &self.0;
        let tenant = if shared.limits.is_shared { current_tenant() } else { NO_TENANT };
        let permit = shared.permits.try_acquire(tenant);
        if let Some(permit) = permit {
            let now = Instant::now();
            let fresh = shared.idle.lock().connections.pop_back_if(|entry| {
                now - entry.used_at < shared.limits.ping_after && now - entry.opened_at < shared.limits.max_lifetime
            });
            return match fresh {
                Some(entry) => Ok(self.pooled(entry, permit)),
                None => self.in_time(Box::pin(self.connect(permit))).await,
            };
        }
        // Boxed, since it is rare and would make every statement's future large.
        self.in_time(Box::pin(async move {
            let permit = shared.permits.acquire(tenant).await.ok_or(Error::Closed)?;
            self.connect(permit).await
        }))
        .await
    }

    /// Current state of its connections.
    pub(crate) fn stats(&self, name: &'static str) -> PoolStats {
        let (used, max, waiting) = self.0.permits.counts();
        PoolStats { name, used, max, waiting }
    }

    /// True if the server had no more connections a moment ago.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.0.exhausted_at.lock().is_some_and(|at| at.elapsed() < EXHAUSTED_FOR)
    }

    /// An idle connection that answers, or a new one. If the server has no more, one of the own that becomes idle.
    async fn connect(&self, mut permit: FairPermit) -> Result<Pooled<C>, Error> {
        let shared = &self.0;
        loop {
            let candidate = shared.idle.lock().connections.pop_back();
            let opened = match candidate {
                Some(entry) if entry.opened_at.elapsed() >= shared.limits.max_lifetime => {
                    self.open(Some(entry), permit).await
                }
                Some(mut entry) => {
                    if entry.used_at.elapsed() >= shared.limits.ping_after && !is_alive(&mut entry.conn).await {
                        shared.invalidate(entry.opened_at);
                        continue;
                    }
                    return Ok(self.pooled(entry, permit));
                }
                None => self.open(None, permit).await,
            };
            match opened {
                Ok(pooled) => return Ok(pooled),
                // Others of this pool are in use, or were a moment ago.
                Err((error, Some(kept))) if shared.limits.is_shared && C::is_exhausted(&error) => {
                    permit = kept;
                    let _ = timeout(GROW_INTERVAL, shared.returned.notified()).await;
                }
                Err((error, _)) => return Err(error.into()),
            }
        }
    }

    /// Opens a connection, in the place of an old one if there is one. A task of its own does it: if the caller goes
    /// meanwhile, the permit is kept until the connection is idle, so that [`Pool::close`] leaves none behind.
    async fn open(
        &self,
        old: Option<Entry<C>>,
        permit: FairPermit,
    ) -> Result<Pooled<C>, (sqlx::Error, Option<FairPermit>)> {
        let pool = Self(Arc::clone(&self.0));
        let opening = tokio::spawn(async move {
            let shared = &pool.0;
            let opened = timeout(shared.limits.patience, async {
                match old {
                    Some(old) => shared.replace(old).await,
                    None => shared.open().await,
                }
            });
            match opened.await.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
                Ok(entry) => Ok(pool.pooled(entry, permit)),
                Err(error) => Err((error, Some(permit))),
            }
        });
        opening.await.unwrap_or(Err((sqlx::Error::WorkerCrashed, None)))
    }

    async fn in_time<T>(&self, acquiring: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let patience = self.0.limits.patience;
        timeout(patience, acquiring).await.unwrap_or(Err(Error::Driver(sqlx::Error::PoolTimedOut)))
    }

    fn pooled(&self, entry: Entry<C>, permit: FairPermit) -> Pooled<C> {
        Pooled {
            entry: Some(entry),
            in_transaction: false,
            broken: false,
            pool: Arc::clone(&self.0),
            permit: Some(permit),
        }
    }

    /// Waits for all connections and closes them.
    pub(crate) async fn close(&self) {
        self.0.permits.close().await;
        let idle = mem::take(&mut self.0.idle.lock().connections);
        for entry in idle {
            if let Err(error) = entry.conn.close().await {
                tracing::debug!(%error, "a connection did not close cleanly");
            }
        }
    }
}

async fn is_alive(conn: &mut impl Reusable) -> bool {
    timeout(PING_TIMEOUT, conn.ping()).await.is_ok_and(|answer| answer.is_ok())
}

impl<C: Reusable> Shared<C> {
    async fn open(&self) -> sqlx::Result<Entry<C>> {
        match C::open(&self.options).await {
            Ok(conn) => {
                let now = Instant::now();
                Ok(Entry { conn, opened_at: now, used_at: now })
            }
            Err(error) => {
                if C::is_exhausted(&error) {
                    *self.exhausted_at.lock() = Some(Instant::now());
                }
                Err(error)
            }
        }
    }

    /// A new connection in the place of an old one, which is kept if there is none.
    async fn replace(&self, mut old: Entry<C>) -> sqlx::Result<Entry<C>> {
        let exhausted_before = *self.exhausted_at.lock();
        match self.open().await {
            Err(error) if C::is_exhausted(&error) && is_alive(&mut old.conn).await => {
                old.opened_at = Instant::now();
                // Nothing is missing.
                *self.exhausted_at.lock() = exhausted_before;
                Ok(old)
            }
            opened => opened,
        }
    }

    /// Takes a connection back and closes those idle for too long.
    fn put_back(&self, mut entry: Entry<C>) {
        entry.used_at = Instant::now();
        let mut idle = self.idle.lock();
        let is_expired = |oldest: &mut Entry<C>| entry.used_at - oldest.used_at >= self.limits.idle_timeout;
        while idle.connections.pop_front_if(is_expired).is_some() {}
        if entry.opened_at >= idle.valid_since {
            idle.connections.push_back(entry);
            drop(idle);
            self.returned.notify_one();
        }
    }

    /// Drops a lost connection and, since they are likely lost too, all that were open beside it.
    fn discard(&self, entry: Entry<C>) {
        self.invalidate(entry.opened_at);
        drop(entry);
    }

    /// Retires all connections because one opened at that moment is lost, unless that one was already retired.
    fn invalidate(&self, opened_at: Instant) {
        let mut idle = self.idle.lock();
        if opened_at >= idle.valid_since {
            idle.valid_since = Instant::now();
            idle.connections.clear();
        }
    }
}

/// A connection in use. Dropped without [`Pooled::release`], as when a statement fails or
/// its caller hangs up, it recovers before it is used again.
pub(crate) struct Pooled<C: Reusable> {
    entry: Option<Entry<C>>,
    /// A transaction may be open on it.
    pub(crate) in_transaction: bool,
    /// It must not be used again.
    broken: bool,
    pool: Arc<Shared<C>>,
    /// Given back after the connection.
    permit: Option<FairPermit>,
}

impl<C: Reusable> Pooled<C> {
    pub(crate) fn conn(&mut self) -> Result<&mut C, Error> {
        Ok(self.parts()?.0)
    }

    pub(crate) fn parts(&mut self) -> Result<(&mut C, &C::Settings), Error> {
        let conn = self.entry.as_mut().map(|entry| &mut entry.conn).ok_or(Error::Closed)?;
        Ok((conn, &self.pool.settings))
    }

    pub(crate) fn settings(&self) -> &C::Settings {
        &self.pool.settings
    }

    /// Marks it, and likely those opened before it, as unusable.
    pub(crate) fn mark_broken(&mut self) {
        self.broken = true;
    }

    /// Returns it to the pool, for immediate reuse.
    pub(crate) fn release(mut self) {
        if !self.broken
            && let Some(entry) = self.entry.take()
        {
            self.pool.put_back(entry);
        }
    }
}

impl<C: Reusable> Drop for Pooled<C> {
    fn drop(&mut self) {
        let Some(mut entry) = self.entry.take() else { return };
        if self.broken {
            self.pool.discard(entry);
            return;
        }
        let (pool, in_transaction, permit) = (Arc::clone(&self.pool), self.in_transaction, self.permit.take());
        let recovery = async move {
            // Others may use a connection again once this one is idle.
            let _permit = permit;
            match entry.conn.recover(&pool.settings, in_transaction).await {
                Ok(()) => pool.put_back(entry),
                Err(error) => {
                    tracing::debug!(%error, "a connection is lost");
                    pool.discard(entry);
                }
            }
        };
        // Without a runtime the whole process is ending.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(recovery);
        }
    }
}
