//! Budgets and readings for tests of parsers.

use std::time::Duration;

use crate::budget::{Allowance, Budget};
use crate::imports::forms::Expected;
use crate::imports::input::Input;
use crate::imports::record::{Item, ParseError, Sink};

/// Budget of a file.
pub(super) fn budget() -> Budget {
    let time = Duration::from_secs(600);
    let allowance = Allowance { bytes: 1 << 30, steps: 1 << 30, memory: 48 << 20, time };
    Budget::begin(allowance)
}

/// Records of a text.
pub(super) fn read_text(
    read: impl FnOnce(Input<'_>, &mut Sink<'_>) -> Result<(), ParseError>,
    text: &[u8],
    expected: Expected,
) -> Result<Vec<Item>, ParseError> {
    let budget = budget();
    let mut items = vec![];
    let mut receive = |item| {
        items.push(item);
        Ok(())
    };
    read(Input::text(text, &budget, expected)?, &mut Sink::new(&budget, &mut receive))?;
    Ok(items)
}
