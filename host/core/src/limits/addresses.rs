//! Limits per client address, for requests without a key or with a wrong one, and limits of mails sent by networks.
//!
//! Addresses share a fixed number of buckets, so that memory use does not depend on their number. Each address has a
//! bucket in two tables, under different hashes, and is refused only if both are empty: it must not suffer from
//! another address in one of them.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::rates::refusal;
use crate::limits::token_bucket::{Rate, TokenBucket};
use crate::values::NetworkId;

/// Number of buckets per table.
const BUCKETS: usize = 1 << 15;
/// Wrong keys per address: far more than a person mistypes, too few to keep the database busy.
const WRONG_KEYS: Rate = Rate::per_second(20, 200);
/// Requests per address to routes without a key.
const PUBLIC_REQUESTS: Rate = Rate::per_second(50, 500);
/// Requests per address to the console's pages: many people may share it.
const PAGES: Rate = Rate::per_second(100, 1_000);
/// Searches per address in the documentation, each of which reads all of it.
const SEARCHES: Rate = Rate::per_second(5, 50);
/// Waitlist joins per address: enough for people who share an address, too few to sign up a list of others.
const WAITLIST_JOINS: Rate = Rate::every(Duration::from_secs(30), 20);
/// Requests per address about appeals, whose codes must not be guessed.
const APPEALS: Rate = Rate::every(Duration::from_secs(3), 20);
/// Requests per address to one endpoint of a network, unless its module's manifest says otherwise.
const ENDPOINTS: Rate = Rate::every(Duration::from_secs(1), 60);
/// Passwords and codes per address: people mistype, and several may share an address.
const SIGN_INS: Rate = Rate::every(Duration::from_secs(10), 30);
/// The same per IPv6 /56, usually one customer of a provider, and per /48, one site. They have room for many households,
/// and yet somebody with all of one gains little.
const SIGN_INS_OF_CUSTOMER: Rate = Rate::every(Duration::from_secs(5), 60);
const SIGN_INS_OF_SITE: Rate = Rate::every(Duration::from_secs(2), 120);
/// Mails with links requested by one address, and invitations of one network.
const MAILS: Rate = Rate::every(Duration::from_secs(30), 50);
/// Invitations of one network to one address, including withdrawn ones.
const MAILS_TO_ONE: Rate = Rate::every(Duration::from_mins(10), 3);
/// Notices of one network to one address.
const NOTICES_TO_ONE: Rate = Rate::every(Duration::from_mins(10), 20);
/// Concurrent lookups for all addresses that sent too many wrong keys.
const LOOKUPS: usize = 2;

/// Limits per client address, and of mails.
#[derive(Debug)]
pub struct AddressLimits {
    wrong_keys: AddressBuckets,
    public: AddressBuckets,
    pages: AddressBuckets,
    joins: AddressBuckets,
    appeals: AddressBuckets,
    endpoints: AddressBuckets,
    sign_ins: AddressBuckets,
    mails: AddressBuckets,
    lookups: Semaphore,
}

impl Default for AddressLimits {
    fn default() -> Self {
        Self {
            wrong_keys: AddressBuckets::new("wrong-keys", WRONG_KEYS),
            public: AddressBuckets::new("public", PUBLIC_REQUESTS),
            pages: AddressBuckets::new("pages", PAGES),
            joins: AddressBuckets::new("joins", WAITLIST_JOINS),
            appeals: AddressBuckets::new("appeals", APPEALS),
            endpoints: AddressBuckets::new("endpoints", ENDPOINTS),
            sign_ins: AddressBuckets::new("sign-ins", SIGN_INS),
            mails: AddressBuckets::new("mails", MAILS),
            lookups: Semaphore::new(LOOKUPS),
        }
    }
}

impl AddressLimits {
    /// Counts a request with a wrong key, and refuses its address if there were too many. A valid key is never
    /// refused: clients that share the address with an attacker are served.
    pub(crate) fn count_wrong_key(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.wrong_keys.take(remote, now, "Too many wrong keys from this address; try again later.")
    }

    /// Permit for looking up a key of this address: if it sent too many wrong keys, only a few lookups run
    /// concurrently, so that guessing keys does not keep the database busy.
    pub(crate) async fn lookup_permit(&self, remote: IpAddr, now: Millis) -> Option<SemaphorePermit<'_>> {
        if self.wrong_keys.has_token(remote, now) {
            return None;
        }
        // The semaphore is never closed.
        self.lookups.acquire().await.ok()
    }

    /// Counts a request to a route without a key.
    pub fn count_public(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.public.take(remote, now, "Too many requests without a key from this address; try again later.")
    }

    /// Counts a request to a page.
    pub(crate) fn count_page(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.pages.take(remote, now, "Too many requests to pages from this address; try again later.")
    }

    /// Counts a search in the documentation.
    pub(crate) fn count_search(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        let often = "Too many searches from this address; try again later.";
        self.pages.take_at(SEARCHES, ("search", address_block(remote)), now, often)
    }

    /// Counts a request to a route without a key by the holder of a valid key or session.
    pub(crate) fn count_known(&self, caller: &str, now: Millis) -> Result<(), ApiError> {
        self.public.take_at(PUBLIC_REQUESTS, ("known", caller), now, "Too many requests; try again later.")
    }

    /// Counts a password or code, correct or not.
    pub fn count_sign_in(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        let often = "Too many sign-in attempts from this address; try again later.";
        self.sign_ins.take(remote, now, often)?;
        if remote.to_canonical().is_ipv6() {
            for (rate, bits) in [(SIGN_INS_OF_CUSTOMER, 56_u8), (SIGN_INS_OF_SITE, 48)] {
                self.sign_ins.take_at(rate, (bits, prefix(remote, bits)), now, often)?;
            }
        }
        Ok(())
    }

    /// Counts an invitation of a network to an address in lower case.
    pub fn count_invitation(&self, network: NetworkId, to: &str, now: Millis) -> Result<(), ApiError> {
        let often = "This address was invited too often; try again later.";
        self.mails.take_at(MAILS_TO_ONE, ("invitation", network, to), now, often)?;
        self.mails.take_at(MAILS, network, now, "Too many invitations by this network; try again later.")
    }

    /// True if a network may send a notice to an address now. Counts the notice.
    pub fn may_notify(&self, network: NetworkId, to: &str, now: Millis) -> bool {
        self.mails.take_at(NOTICES_TO_ONE, ("notice", network, to), now, "").is_ok()
    }

    /// Counts a mail with a link.
    pub fn count_mail(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.mails.take(remote, now, "Too many mails requested from this address; try again later.")
    }

    /// Counts a request about an appeal.
    pub fn count_appeal(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.appeals.take(remote, now, "Too many requests about appeals from this address; try again later.")
    }

    /// Counts a request to a public endpoint: its network, module and name.
    pub fn count_endpoint(
        &self,
        remote: IpAddr,
        of: (NetworkId, &str, &str),
        per_minute: u32,
        now: Millis,
    ) -> Result<(), ApiError> {
        let rate = Rate::every(Duration::from_mins(1) / per_minute.max(1), i64::from(per_minute));
        let often = "Too many requests to this endpoint from this address; try again later.";
        self.endpoints.take_at(rate, (of, address_block(remote)), now, often)
    }

    /// Counts a join of the waitlist.
    pub fn count_join(&self, remote: IpAddr, now: Millis) -> Result<(), ApiError> {
        self.joins.take(remote, now, "Too many joins from this address; try again later.")
    }
}

#[derive(Debug)]
struct AddressBuckets {
    name: &'static str,
    rate: Rate,
    hashers: [RandomState; 2],
    tables: [Vec<TokenBucket>; 2],
}

impl AddressBuckets {
    fn new(name: &'static str, rate: Rate) -> Self {
        let table = || std::iter::repeat_with(TokenBucket::default).take(BUCKETS).collect();
        Self { name, rate, hashers: [RandomState::new(), RandomState::new()], tables: [table(), table()] }
    }

    fn buckets(&self, of: impl Hash) -> [&TokenBucket; 2] {
        [0, 1].map(|at| &self.tables[at][self.hashers[at].hash_one(&of) as usize % BUCKETS])
    }

    fn has_token(&self, remote: IpAddr, now: Millis) -> bool {
        self.buckets(address_block(remote)).iter().any(|bucket| bucket.has_token(self.rate, now))
    }

    fn take(&self, remote: IpAddr, now: Millis, message: &'static str) -> Result<(), ApiError> {
        self.take_at(self.rate, address_block(remote), now, message)
    }

    /// Takes a token for a key that is not an address, at its own rate.
    fn take_at(&self, rate: Rate, of: impl Hash, now: Millis, message: &'static str) -> Result<(), ApiError> {
        let [Err(one), Err(other)] = self.buckets(of).map(|bucket| bucket.take(rate, now)) else {
            return Ok(());
        };
        let level = if one.next_in <= other.next_in { one } else { other };
        Err(refusal(message, level.next_in, vec![rate.state(self.name, level)]))
    }
}

/// Address that is limited: for IPv6 the /64 network, usually one household.
pub fn address_block(remote: IpAddr) -> IpAddr {
    prefix(remote, 64)
}

/// First bits of an IPv6 address; an IPv4 address as it is.
fn prefix(remote: IpAddr, bits: u8) -> IpAddr {
    match remote.to_canonical() {
        IpAddr::V6(address) => IpAddr::from((address.to_bits() & !(u128::MAX >> bits)).to_be_bytes()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn each_address_has_its_own_limit() {
        let limits = AddressLimits::default();
        for _ in 0..WAITLIST_JOINS.burst() {
            limits.count_join(remote("2001:db8::1"), 0).unwrap();
        }
        limits.count_join(remote("2001:db8::2"), 0).unwrap_err();
        limits.count_join(remote("2001:db8:0:1::1"), 0).unwrap();
        limits.count_join(remote("::ffff:10.0.0.1"), 0).unwrap();
        limits.count_join(remote("2001:db8::2"), 30_000).unwrap();
    }

    #[test]
    fn searches_leave_room_for_pages() {
        let limits = AddressLimits::default();
        let searched = (0..1000).filter(|_| limits.count_search(remote("10.0.0.1"), 0).is_ok());
        assert_eq!(searched.count() as i64, SEARCHES.burst());
        limits.count_page(remote("10.0.0.1"), 0).unwrap();
        limits.count_search(remote("10.0.0.2"), 0).unwrap();
    }

    #[test]
    fn a_network_mails_as_much_as_it_may_and_no_other_is_refused() {
        let limits = AddressLimits::default();
        let (one, other) = (NetworkId(uuid::Uuid::from_u128(1)), NetworkId(uuid::Uuid::from_u128(2)));
        for _ in 0..MAILS_TO_ONE.burst() {
            limits.count_invitation(one, "a@example.org", 0).unwrap();
        }
        limits.count_invitation(one, "a@example.org", 0).unwrap_err();
        limits.count_invitation(other, "a@example.org", 0).unwrap();
        limits.count_invitation(one, "a@example.org", 600_000).unwrap();
        let invited =
            (0..100).filter(|at| limits.count_invitation(one, &format!("p{at}@example.org"), 600_000).is_ok());
        assert_eq!(invited.count() as i64, MAILS.burst() - 1);
        limits.count_invitation(other, "p0@example.org", 600_000).unwrap();
        let notified = (0..100).filter(|_| limits.may_notify(one, "a@example.org", 0));
        assert_eq!(notified.count() as i64, NOTICES_TO_ONE.burst());
    }

    #[test]
    fn a_site_with_many_networks_gains_little() {
        let limits = AddressLimits::default();
        let tried = |from: &dyn Fn(u32) -> String| {
            (0..1000).filter(|at| limits.count_sign_in(remote(&from(*at)), 0).is_ok()).count() as i64
        };
        assert_eq!(tried(&|at| format!("2001:db8:1:{:x}::1", at % 256)), SIGN_INS_OF_CUSTOMER.burst());
        assert_eq!(tried(&|at| format!("2001:db8:2:{:x}::1", (at % 256) * 256)), SIGN_INS_OF_SITE.burst());
        limits.count_sign_in(remote("2001:db8:3::1"), 0).unwrap();
        assert_eq!(tried(&|at| format!("10.0.{}.{}", at / 256, at % 256)), 1000);
    }

    #[test]
    fn an_address_that_shares_one_of_its_buckets_is_served() {
        let buckets = AddressBuckets::new("test", Rate::per_second(1, 1));
        buckets.buckets(address_block(remote("10.0.0.1")))[0].take(buckets.rate, 0).unwrap();
        buckets.take(remote("10.0.0.1"), 0, "").unwrap();
        buckets.take(remote("10.0.0.1"), 0, "").unwrap_err();
    }

    #[tokio::test]
    async fn look_ups_wait_only_after_wrong_keys() {
        let limits = AddressLimits::default();
        let (guesser, other) = (remote("10.0.0.1"), remote("10.0.0.2"));
        while limits.count_wrong_key(guesser, 0).is_ok() {}
        assert!(limits.lookup_permit(other, 0).await.is_none());
        let held = [limits.lookup_permit(guesser, 0).await, limits.lookup_permit(guesser, 0).await];
        assert!(held.iter().all(Option::is_some));
        let mut third = std::pin::pin!(limits.lookup_permit(guesser, 0));
        assert!(tokio::time::timeout(Duration::from_millis(10), &mut third).await.is_err());
        drop(held);
        assert!(third.await.is_some());
    }
}
