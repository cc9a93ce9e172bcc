//! Tests of the room `punishments`.
