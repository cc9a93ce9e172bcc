//! What becomes of a thing that comes from another tool.

/// What became of it, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    /// It was not there.
    Created,
    /// It was there and is different now.
    Changed,
    /// It was there as it is.
    Unchanged,
}

impl Imported {
    /// Of something that was there before or not, and differs from it or not.
    pub(crate) fn of(was_there: bool, differs: bool) -> Self {
        match (was_there, differs) {
            (false, _) => Self::Created,
            (true, true) => Self::Changed,
            (true, false) => Self::Unchanged,
        }
    }
}
