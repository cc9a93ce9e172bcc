//! The components' states, by their types.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// One state of each type. It is filled before the hub starts and never changes then, so that a look-up takes no lock.
#[derive(Default)]
pub struct States(HashMap<TypeId, Box<dyn Any + Send + Sync>, BuildHasherDefault<TypeHasher>>);

impl States {
    /// Adds a component's state.
    pub fn insert<T: Any + Send + Sync>(&mut self, state: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(state));
    }

    /// The state of this type. That it was never added is a mistake in the declaration of its component, which every run
    /// of the component shows.
    #[inline]
    pub fn get<T: Any + Send + Sync>(&self) -> &T {
        match self.0.get(&TypeId::of::<T>()).and_then(|state| state.downcast_ref()) {
            Some(state) => state,
            None => missing(type_name::<T>()),
        }
    }
}

#[cold]
fn missing(name: &str) -> ! {
    panic!("{name} is not registered")
}

/// The identifier of a type is a hash already.
#[derive(Default)]
struct TypeHasher(u64);

impl Hasher for TypeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_own_state() {
        let mut states = States::default();
        states.insert(5_u8);
        states.insert("five".to_owned());
        assert_eq!((*states.get::<u8>(), states.get::<String>().as_str()), (5, "five"));
    }
}
