//! The outcome of importing one item from another tool.

/// The outcome for one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It did not exist.
    Created,
    /// It existed and differed.
    Changed,
    /// It existed as it is.
    Unchanged,
}

impl ImportOutcome {
    /// The outcome for an item that existed before or not, and differed or not.
    pub fn of(was_there: bool, differs: bool) -> Self {
        match (was_there, differs) {
            (false, _) => Self::Created,
            (true, true) => Self::Changed,
            (true, false) => Self::Unchanged,
        }
    }
}
