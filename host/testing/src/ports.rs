//! Ports of programs that tests start.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// A free port for a program that is started later, maybe more than once. It was not returned before.
///
/// It lies below those that systems give to connections (Linux from 32768): any connection could take one of these
/// before the program listens, or while it is restarted.
pub fn free_port() -> u16 {
    static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let port = 10_000 + u16::try_from(RandomState::new().hash_one(()) % 20_000).unwrap_or_default();
        let is_free = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
        if is_free && TAKEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
            return port;
        }
    }
}
