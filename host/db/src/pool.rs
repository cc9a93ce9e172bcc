//! Connections to lend.
//!
//! sqlx's own pool asks a connection for a sign of life after every use, which costs about as much
//! as a short read itself. It also takes a connection back whose `BEGIN` was cancelled, with the
//! transaction open: the next caller's write would be acknowledged and never committed.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use parking_lot::Mutex;
use sqlx::{ConnectOptions, Connection};
use tokio::{runtime::Handle, sync::Semaphore, time::Instant};

use crate::Error;

/// How long a caller waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection may take to give a sign of life. One whose packets are dropped on the way gives none, and
/// nothing else would tell.
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that can be lent again after a caller left it in the middle of something.
pub(crate) trait Lendable: Connection + 'static {
    /// How the connections of a pool are used.
    type Terms: Send + Sync;

    /// Waits for what is still under way, and undoes it if a transaction may be open.
    fn recover(&mut self, terms: &Self::Terms, in_transaction: bool) -> impl Future<Output = sqlx::Result<()>> + Send;
}

/// What a pool allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections open at once.
    pub(crate) max: u32,
    /// A connection unused for longer is tried before it is lent: the server may have gone.
    pub(crate) ping_after: Duration,
    /// One unused for longer is closed.
    pub(crate) idle: Duration,
    /// One older than this is closed, so that a failover is noticed.
    pub(crate) age: Duration,
}

/// Connections, opened as they are needed. Clones share them.
pub(crate) struct Pool<C: Lendable>(Arc<Shared<C>>);

struct Shared<C: Lendable> {
    options: C::Options,
    terms: C::Terms,
    limits: Limits,
    /// One for each connection that may yet be lent.
    permits: Semaphore,
    idle: Mutex<Idle<C>>,
}

struct Idle<C> {
    /// The one used last is at the back.
    members: VecDeque<Member<C>>,
    /// Those opened before are not lent any more.
    sound_since: Instant,
}

struct Member<C> {
    conn: C,
    opened: Instant,
    used: Instant,
}

impl<C: Lendable> Pool<C> {
    pub(crate) fn new(options: C::Options, terms: C::Terms, limits: Limits) -> Self {
        let permits = Semaphore::new(limits.max as usize);
        let idle = Mutex::new(Idle { members: VecDeque::new(), sound_since: Instant::now() });
        Self(Arc::new(Shared { options, terms, limits, permits, idle }))
    }

    /// Lends a connection.
    pub(crate) async fn acquire(&self) -> Result<Pooled<C>, Error> {
        let shared = &self.0;
        if let Ok(permit) = shared.permits.try_acquire() {
            let now = Instant::now();
            let fresh = shared.idle.lock().members.pop_back_if(|member| {
                now - member.used < shared.limits.ping_after && now - member.opened < shared.limits.age
            });
            if let Some(member) = fresh {
                permit.forget();
                return Ok(self.lend(member));
            }
        }
        // Boxed, since it is rare and would make every statement's future large.
        tokio::time::timeout(ACQUIRE_TIMEOUT, Box::pin(self.acquire_slowly()))
            .await
            .unwrap_or(Err(Error::Driver(sqlx::Error::PoolTimedOut)))
    }

    async fn acquire_slowly(&self) -> Result<Pooled<C>, Error> {
        let shared = &self.0;
        let permit = shared.permits.acquire().await.map_err(|_| Error::Closed)?;
        loop {
            let candidate = shared.idle.lock().members.pop_back();
            let member = match candidate {
                Some(member) if member.opened.elapsed() >= shared.limits.age => continue,
                Some(mut member) => {
                    if member.used.elapsed() >= shared.limits.ping_after && !is_alive(&mut member.conn).await {
                        shared.distrust(member.opened);
                        continue;
                    }
                    member
                }
                None => {
                    let conn = shared.options.connect().await?;
                    let now = Instant::now();
                    Member { conn, opened: now, used: now }
                }
            };
            permit.forget();
            return Ok(self.lend(member));
        }
    }

    fn lend(&self, member: Member<C>) -> Pooled<C> {
        Pooled { member: Some(member), in_transaction: false, spoilt: false, pool: Arc::clone(&self.0) }
    }

    /// Waits for all that is lent and closes it; nothing more is lent.
    pub(crate) async fn close(&self) {
        let all = self.0.permits.acquire_many(self.0.limits.max).await;
        self.0.permits.close();
        drop(all);
        let idle = mem::take(&mut self.0.idle.lock().members);
        for member in idle {
            if let Err(error) = member.conn.close().await {
                tracing::debug!(%error, "a connection did not close cleanly");
            }
        }
    }
}

async fn is_alive(conn: &mut impl Connection) -> bool {
    tokio::time::timeout(PING_TIMEOUT, conn.ping()).await.is_ok_and(|answer| answer.is_ok())
}

impl<C: Lendable> Shared<C> {
    /// Takes a connection back and closes those that nobody has needed for long.
    fn put(&self, mut member: Member<C>) {
        member.used = Instant::now();
        let mut idle = self.idle.lock();
        while idle.members.pop_front_if(|oldest| member.used - oldest.used >= self.limits.idle).is_some() {}
        if member.opened >= idle.sound_since {
            idle.members.push_back(member);
        }
        drop(idle);
        self.permits.add_permits(1);
    }

    /// A connection is lost, and with it, likely, all that were open beside it.
    fn lose(&self, member: Member<C>) {
        self.distrust(member.opened);
        drop(member);
        self.permits.add_permits(1);
    }

    /// A connection opened then is not fit to be lent. Those opened later may be.
    fn distrust(&self, opened: Instant) {
        let mut idle = self.idle.lock();
        if opened >= idle.sound_since {
            idle.sound_since = Instant::now();
            idle.members.clear();
        }
    }
}

/// A connection lent by a pool. Dropped without [`Pooled::release`], as when a statement fails or
/// its caller hangs up, it recovers before it is lent again.
pub(crate) struct Pooled<C: Lendable> {
    member: Option<Member<C>>,
    /// A transaction may be open on it.
    pub(crate) in_transaction: bool,
    /// It is not to be lent again.
    spoilt: bool,
    pool: Arc<Shared<C>>,
}

impl<C: Lendable> Pooled<C> {
    pub(crate) fn conn(&mut self) -> Result<&mut C, Error> {
        Ok(self.parts()?.0)
    }

    pub(crate) fn parts(&mut self) -> Result<(&mut C, &C::Terms), Error> {
        let conn = self.member.as_mut().map(|member| &mut member.conn).ok_or(Error::Closed)?;
        Ok((conn, &self.pool.terms))
    }

    pub(crate) fn terms(&self) -> &C::Terms {
        &self.pool.terms
    }

    /// It, and likely those opened before it, are of no use any more.
    pub(crate) fn spoil(&mut self) {
        self.spoilt = true;
    }

    /// Gives it back, fit to be lent again at once.
    pub(crate) fn release(mut self) {
        if !self.spoilt
            && let Some(member) = self.member.take()
        {
            self.pool.put(member);
        }
    }
}

impl<C: Lendable> Drop for Pooled<C> {
    fn drop(&mut self) {
        let Some(mut member) = self.member.take() else { return };
        if self.spoilt {
            self.pool.lose(member);
            return;
        }
        let (pool, in_transaction) = (Arc::clone(&self.pool), self.in_transaction);
        let recovery = async move {
            match member.conn.recover(&pool.terms, in_transaction).await {
                Ok(()) => pool.put(member),
                Err(error) => {
                    tracing::debug!(%error, "a connection is lost");
                    pool.lose(member);
                }
            }
        };
        // Without a runtime the whole process is ending.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(recovery);
        }
    }
}
