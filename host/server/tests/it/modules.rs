//! Tests of the room `modules`.
