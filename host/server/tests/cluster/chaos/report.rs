//! Results of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::client::{At, Record, answer_limit};

/// Maximum number of shown violations of one kind.
const SHOWN: usize = 5;
/// Lines of history around a violation.
const AROUND: Duration = Duration::from_secs(4);
const LINES: usize = 30;

/// A violated invariant.
#[derive(Clone, Debug)]
pub struct Violation {
    pub network: usize,
    pub load: &'static str,
    pub at: At,
    pub what: String,
}

/// Input of a checker and its findings.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    pub size: usize,
    /// Times of acknowledged operations.
    pub done: Vec<At>,
    /// Longest time without one: an operation that never succeeds is not checked.
    pub idle: Duration,
    pub violations: Vec<Violation>,
}

/// Check of a history, once the hub has recovered.
pub type Check = BoxFuture<'static, Checked>;

/// One fault that was injected.
#[derive(Clone, Debug)]
pub struct Injected {
    pub kind: &'static str,
    pub what: String,
    pub at: At,
    pub healed: At,
    /// Longest time in which a network's payments were not served, during this fault and concurrent ones.
    pub outage: Duration,
    /// True if it was the only fault of its round.
    pub is_alone: bool,
    /// Time from the end of the last fault until all networks were served again.
    pub recovery: Duration,
}

/// Results of a whole run.
#[derive(Default)]
pub struct Report {
    pub seconds: u64,
    pub seed: u64,
    pub rounds: usize,
    pub faults: Vec<Injected>,
    pub histories: BTreeMap<&'static str, Checked>,
    pub left_out: Vec<String>,
    /// Maximum time that the machine kept a request of ten seconds waiting for a processor.
    pub stalls: Duration,
}

impl Report {
    pub fn add(&mut self, name: &'static str, checked: Checked) {
        let all = self.histories.entry(name).or_default();
        all.size += checked.size;
        all.done.extend(checked.done);
        all.idle = all.idle.max(checked.idle);
        all.violations.extend(checked.violations);
    }

    pub fn violations(&self) -> usize {
        self.histories.values().map(|checked| checked.violations.len()).sum()
    }

    /// The report as Markdown, violations last.
    pub fn text(&self, records: &[Record]) -> String {
        let mut text = format!("# Chaos, {} s, seed {}\n\n", self.seconds, self.seed);
        let _ = writeln!(text, "{} faults in {} rounds.\n", self.faults.len(), self.rounds);
        text += "| fault | times | longest outage | of one alone | longest recovery |\n|---|---:|---:|---:|---:|\n";
        let mut kinds = BTreeMap::<_, Vec<&Injected>>::new();
        for fault in &self.faults {
            kinds.entry(fault.kind).or_default().push(fault);
        }
        for (kind, faults) in kinds {
            let longest = |times: &mut dyn Iterator<Item = Duration>| {
                times.max().map_or_else(|| "–".to_owned(), |time| format!("{:.1} s", secs(time)))
            };
            let outage = longest(&mut faults.iter().map(|fault| fault.outage));
            let alone = longest(&mut faults.iter().filter(|fault| fault.is_alone).map(|fault| fault.outage));
            let recovery = longest(&mut faults.iter().map(|fault| fault.recovery));
            let _ = writeln!(text, "| {kind} | {} | {outage} | {alone} | {recovery} |", faults.len());
        }
        text += "\n| history | size | acknowledged | longest pause | violations |\n|---|---:|---:|---:|---:|\n";
        for (name, checked) in &self.histories {
            let (size, done) = (checked.size, checked.done.len());
            // Histories without load have no times.
            let pause = if done == 0 { "–".to_owned() } else { format!("{:.1} s", secs(checked.idle)) };
            let _ = writeln!(text, "| {name} | {size} | {done} | {pause} | {} |", checked.violations.len());
        }
        let _ = write!(text, "\nThe machine kept processes waiting for up to {:.1} s within ", secs(self.stalls));
        let _ = writeln!(text, "{:.0} s; that does not count as the hub's delay.", secs(answer_limit()));
        for line in &self.left_out {
            let _ = write!(text, "\nLeft out: {line}.\n");
        }
        for checked in self.histories.values() {
            let mut shown = BTreeMap::<_, usize>::new();
            for violation in &checked.violations {
                let kind = violation.what.split(':').next().unwrap_or_default();
                let count = shown.entry(kind).or_default();
                *count += 1;
                if *count <= SHOWN {
                    text += &self.describe(violation, records);
                }
            }
            for (kind, count) in shown.into_iter().filter(|(_, count)| *count > SHOWN) {
                let _ = write!(text, "\n… {kind}: {} more\n", count - SHOWN);
            }
        }
        text
    }

    fn describe(&self, violation: &Violation, records: &[Record]) -> String {
        let Violation { network, load, at, what } = violation;
        let mut text = format!("\n## Violation: {load} of network {network} at {:.3} s\n\n{what}\n\n", secs(*at));
        let (from, to) = (at.saturating_sub(AROUND), *at + AROUND);
        for fault in self.faults.iter().filter(|fault| fault.at <= to && fault.healed + 2 * AROUND >= from) {
            let _ = writeln!(text, "    fault {} ({:.3} to {:.3})", fault.what, secs(fault.at), secs(fault.healed));
        }
        let around = |record: &&Record| {
            record.network == *network && record.load == *load && record.answered >= from && record.sent <= to
        };
        let mut lines: Vec<_> = records.iter().filter(around).collect();
        lines.sort_by_key(|record| record.sent);
        let skipped = lines.iter().filter(|record| record.answered < *at).count().saturating_sub(LINES / 2);
        for record in lines.into_iter().skip(skipped).take(LINES) {
            let result = match record.result {
                Ok(0) => String::new(),
                Ok(status) => format!("→ {status} {}", record.code),
                Err(failure) => format!("→ {failure:?}"),
            };
            let node = record.node.map(|node| format!("node {node} ")).unwrap_or_default();
            let (sent, answered) = (secs(record.sent), secs(record.answered));
            let what: String = record.what.chars().take(200).collect();
            let _ = writeln!(text, "    {sent:.3}–{answered:.3} {node}{what} {result}");
        }
        text
    }
}

pub fn secs(time: Duration) -> f64 {
    time.as_secs_f64()
}
