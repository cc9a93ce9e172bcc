//! Number of failed calls in the last ten seconds, in bounded memory.

/// Number of slices of the window …
const SLICES: usize = 20;
/// … and length of each.
const SLICE_MS: u64 = 500;

/// Counts per slice. The oldest slice is dropped whole, so that the window is up to one slice shorter than ten seconds.
#[derive(Debug, Default)]
pub(super) struct Window([Slice; SLICES]);

#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    /// Slices since the epoch.
    number: u64,
    calls: u32,
    failures: u32,
}

impl Window {
    pub(super) fn add(&mut self, now_ms: u64, failed: bool) {
        let number = now_ms / SLICE_MS;
        let Some(slice) = self.0.get_mut((number % SLICES as u64) as usize) else { return };
        if slice.number != number {
            *slice = Slice { number, ..Slice::default() };
        }
        slice.calls = slice.calls.saturating_add(1);
        slice.failures += u32::from(failed);
    }

    /// Number of calls, and of failed ones.
    pub(super) fn sum(&self, now_ms: u64) -> (u32, u32) {
        let number = now_ms / SLICE_MS;
        let recent = self.0.iter().filter(|slice| slice.number <= number && number - slice.number < SLICES as u64);
        recent.fold((0, 0), |(calls, failures), slice| (calls + slice.calls, failures + slice.failures))
    }
}
