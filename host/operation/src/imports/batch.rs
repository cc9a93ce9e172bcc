//! Size of an import's next batch: as many rows as take a short time, because on SQLite all writers wait for it.

use std::time::Duration;

use hub_db::Backend;

/// Rows of the first batch, and minimum and maximum rows of a batch.
const FIRST: usize = 32;
const FEWEST: usize = 8;
const MOST: usize = 512;
/// Target range of the duration of a batch's statements.
const SQLITE_TIME: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(5));
const POSTGRES_TIME: (Duration, Duration) = (Duration::from_millis(40), Duration::from_millis(100));

/// Size of an import's batches, adapted to the duration of the last one.
#[derive(Debug)]
pub(super) struct BatchSize {
    rows: usize,
    time: (Duration, Duration),
}

impl BatchSize {
    pub(super) fn new(backend: Backend) -> Self {
        Self { rows: FIRST, time: if backend == Backend::Sqlite { SQLITE_TIME } else { POSTGRES_TIME } }
    }

    /// True if a batch with this many rows is full. The rows of one record stay together, so it may have more.
    pub(super) fn is_full(&self, rows: usize) -> bool {
        rows >= self.rows
    }

    /// Adapts the size to the duration of a batch with this many rows.
    pub(super) fn adapt(&mut self, rows: usize, took: Duration) {
        let (short, long) = self.time;
        let adapted = match took {
            took if took > long => self.rows / 2,
            // The duration of a few rows says little about many.
            took if took < short && self.is_full(rows) => self.rows * 2,
            _ => self.rows,
        };
        self.rows = adapted.clamp(FEWEST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full_at(size: &BatchSize) -> usize {
        (1..=MOST).find(|rows| size.is_full(*rows)).unwrap()
    }

    #[test]
    fn batches_follow_the_time_that_their_rows_took() {
        let mut size = BatchSize::new(Backend::Sqlite);
        // A row takes as long, regardless of the number of rows per record.
        let row = Duration::from_micros(60);
        for rows_of_a_record in [1, 4, 100] {
            for _ in 0..20 {
                let rows = full_at(&size).next_multiple_of(rows_of_a_record);
                size.adapt(rows, row * u32::try_from(rows).unwrap());
            }
            let time = row * u32::try_from(full_at(&size)).unwrap();
            assert!(time <= SQLITE_TIME.1, "{rows_of_a_record}: {size:?}");
        }
        assert!(full_at(&size) >= FEWEST);
        for _ in 0..20 {
            size.adapt(full_at(&size), Duration::from_micros(10));
        }
        assert_eq!(full_at(&size), MOST);
    }
}
