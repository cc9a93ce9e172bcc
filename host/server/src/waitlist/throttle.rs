//! How often one remote address may join.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;

use crate::clock::Millis;

/// How many joins a remote address has in one window. Several people may share an address; a list of strangers'
/// addresses is longer.
const MOST: u32 = 20;
const WINDOW: Millis = 10 * 60 * 1000;
/// When there are more remote addresses than this in memory, those whose window is over are forgotten.
const TIDY_AT: usize = 10_000;

/// Counts joins, in memory: a restart forgives.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<HashMap<IpAddr, Window>>);

#[derive(Debug)]
struct Window {
    ends: Millis,
    joins: u32,
}

impl Throttle {
    /// Notes a join. Where it is one too many, how many seconds to wait.
    pub(super) fn note(&self, remote: IpAddr, now: Millis) -> Result<(), u64> {
        let mut windows = self.0.lock();
        if windows.len() >= TIDY_AT {
            windows.retain(|_, window| now < window.ends);
        }
        let window = windows.entry(network_of(remote)).or_insert(Window { ends: now + WINDOW, joins: 0 });
        if window.ends <= now {
            *window = Window { ends: now + WINDOW, joins: 0 };
        }
        if window.joins >= MOST {
            return Err((window.ends - now).div_euclid(1000).unsigned_abs() + 1);
        }
        window.joins += 1;
        Ok(())
    }
}

/// One household has a whole /64 of IPv6.
fn network_of(remote: IpAddr) -> IpAddr {
    match remote.to_canonical() {
        IpAddr::V6(address) => IpAddr::from((address.to_bits() & !u128::from(u64::MAX)).to_be_bytes()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_address_has_its_share_and_then_waits() {
        let throttle = Throttle::default();
        let remote = |text: &str| text.parse::<IpAddr>().unwrap();
        for _ in 0..MOST {
            throttle.note(remote("2001:db8::1"), 0).unwrap();
        }
        assert_eq!(throttle.note(remote("2001:db8::2"), 0), Err(601));
        assert_eq!(throttle.note(remote("2001:db8:0:1::1"), 0), Ok(()));
        assert_eq!(throttle.note(remote("::ffff:10.0.0.1"), 0), Ok(()));
        assert_eq!(throttle.note(remote("2001:db8::2"), WINDOW), Ok(()));
    }
}
