//! Source of identifiers and randomness, replaceable in tests.

use std::sync::Arc;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, RngExt as _, SeedableRng};
use uuid::Uuid;

pub const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Source of identifiers, secrets and seeds.
#[derive(Clone, Debug)]
pub enum Ids {
    /// The operating system's randomness.
    System,
    /// Repeatable, for tests.
    Seeded(Arc<Mutex<StdRng>>),
}

impl Ids {
    /// Repeatable identifiers, for tests.
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// A random UUID (version 4).
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.with(|rng| rng.fill_bytes(&mut bytes));
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// `length` characters of `[0-9A-Za-z]`, each worth 5.95 bits.
    pub fn token(&self, length: usize) -> String {
        self.with(|rng| (0..length).map(|_| char::from(BASE62[rng.random_range(0..BASE62.len())])).collect())
    }

    /// `length` characters of an alphabet.
    pub fn code(&self, alphabet: &[u8], length: usize) -> String {
        self.with(|rng| (0..length).map(|_| char::from(alphabet[rng.random_range(0..alphabet.len())])).collect())
    }

    /// Random bytes, for example for a secret.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.with(|rng| rng.fill_bytes(&mut bytes));
        bytes
    }

    /// A seed for a module's own randomness.
    pub fn seed(&self) -> u64 {
        self.with(|rng| rng.next_u64())
    }

    #[allow(clippy::disallowed_methods, reason = "the only place that uses the machine's randomness")]
    fn with<T>(&self, draw: impl FnOnce(&mut dyn Rng) -> T) -> T {
        match self {
            Self::System => draw(&mut rand::rng()),
            Self::Seeded(rng) => draw(&mut *rng.lock()),
        }
    }
}
