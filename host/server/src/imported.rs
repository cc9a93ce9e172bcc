//! Results of importing an item from another tool.

/// Result of an import, or its forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    /// The item did not exist.
    Created,
    /// The item existed and changes.
    Changed,
    /// The item existed and stays the same.
    Unchanged,
}

impl Imported {
    /// Result for an item that existed or not, and differs or not.
    pub(crate) fn of(was_there: bool, differs: bool) -> Self {
        match (was_there, differs) {
            (false, _) => Self::Created,
            (true, true) => Self::Changed,
            (true, false) => Self::Unchanged,
        }
    }
}
