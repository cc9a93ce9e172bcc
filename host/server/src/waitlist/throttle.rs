//! How often one remote address may join.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;

use crate::clock::Millis;

/// Joins of a remote address in one window: enough for people who share an address, too few to sign up a list of
/// others.
const MAX_JOINS: u32 = 20;
const WINDOW: Millis = 10 * 60 * 1000;
/// With this many addresses in memory, those whose window is over are removed.
const PRUNE_AT: usize = 10_000;

/// Counts joins in memory; a restart forgets them.
#[derive(Debug, Default)]
pub(super) struct JoinThrottle(Mutex<HashMap<IpAddr, Window>>);

#[derive(Debug)]
struct Window {
    ends: Millis,
    joins: u32,
}

impl JoinThrottle {
    /// Counts a join; one too many answers how many seconds to wait.
    pub(super) fn check(&self, remote: IpAddr, now: Millis) -> Result<(), u64> {
        let mut windows = self.0.lock();
        if windows.len() >= PRUNE_AT {
            windows.retain(|_, window| now < window.ends);
        }
        let window = windows.entry(address_block(remote)).or_insert(Window { ends: now + WINDOW, joins: 0 });
        if window.ends <= now {
            *window = Window { ends: now + WINDOW, joins: 0 };
        }
        if window.joins >= MAX_JOINS {
            return Err((window.ends - now).div_euclid(1000).unsigned_abs() + 1);
        }
        window.joins += 1;
        Ok(())
    }
}

/// An IPv6 address stands for its /64, which one household has.
fn address_block(remote: IpAddr) -> IpAddr {
    match remote.to_canonical() {
        IpAddr::V6(address) => IpAddr::from((address.to_bits() & !u128::from(u64::MAX)).to_be_bytes()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_over_its_limit_waits_for_the_next_window() {
        let throttle = JoinThrottle::default();
        let remote = |text: &str| text.parse::<IpAddr>().unwrap();
        for _ in 0..MAX_JOINS {
            throttle.check(remote("2001:db8::1"), 0).unwrap();
        }
        assert_eq!(throttle.check(remote("2001:db8::2"), 0), Err(601));
        assert_eq!(throttle.check(remote("2001:db8:0:1::1"), 0), Ok(()));
        assert_eq!(throttle.check(remote("::ffff:10.0.0.1"), 0), Ok(()));
        assert_eq!(throttle.check(remote("2001:db8::2"), WINDOW), Ok(()));
    }
}
