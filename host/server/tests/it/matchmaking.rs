//! Tests of the room `matchmaking`.
