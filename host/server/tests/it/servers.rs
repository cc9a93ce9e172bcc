//! Tests of the room `servers`.
