//! Runs a module's test cases.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use hub_sandbox::test_case::{Answer, NewAnswer, Step, TestCase, one_line, write_answers};
use hub_sandbox::{CallFailure, CallReport, Limits};
use serde_json::{Value, json};

use crate::cli::module::difference::differences;
use crate::cli::module::local::{self, CaseFile, LocalModule};
use crate::cli::module::report::{report_json, trace};
use crate::cli::module::{explain, format};

/// Other programs on the same core can slow down a call; a module that is too slow is so each time.
const MAX_ATTEMPTS: usize = 4;

#[derive(Args, Debug)]
pub(in crate::cli) struct Test {
    #[command(flatten)]
    cases: local::CaseArgs,
    /// Accept the module's current answers as expected
    #[arg(long)]
    update: bool,
    /// Show logs and host calls of all cases, not only failed ones
    #[arg(short, long)]
    verbose: bool,
    /// Computing time limit of each call in ms, for machines much slower than your hub's [default: the point's]
    #[arg(long, value_name = "MS")]
    time_limit: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Run of one step of a case.
struct StepRun<'a> {
    step: &'a Step,
    report: CallReport<Value>,
    /// Failed checks; empty if the step passed.
    problems: Vec<String>,
    limits: Limits,
}

impl Test {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let time = self.time_limit.map(Duration::from_millis);
        let (local, file) = self.cases.open().await?;
        let print = |text: &str| {
            if !self.json {
                println!("{text}");
            }
        };
        let size = format::bytes(local.bytes);
        print(&format!("{}: {size}, serves {}", local.file.display(), local.points()));
        let width = file.cases.iter().map(|(_, case)| case.name.chars().count()).max().unwrap_or(0);
        let (mut results, mut new, mut failed) = (vec![], vec![], 0);
        for (at, case) in &file.cases {
            let steps = run_case(&local, case, time).await;
            if self.update {
                print(&collect_updates(*at, case, &steps, &mut new));
                continue;
            }
            let ok = steps.iter().all(|ran| ran.problems.is_empty());
            failed += usize::from(!ok);
            print(&case_report(&case.name, width, ok, &steps, self.verbose));
            results.push(
                json!({"name": case.name, "ok": ok, "steps": steps.iter().map(StepRun::to_json).collect::<Vec<_>>()}),
            );
        }
        if self.update {
            return write_updates(&file, &new);
        }
        let ok = file.cases.len() - failed;
        if self.json {
            print_json!(json!({"ok": ok, "failed": failed, "cases": results}));
        }
        let all = file.cases.len();
        print(&format!("{}: {ok} ok, {failed} failed", format::count(all, "case")));
        anyhow::ensure!(failed == 0, "{failed} of {} failed", format::count(all, "case"));
        Ok(())
    }
}

/// Runs a case twice and checks it.
async fn run_case<'a>(local: &LocalModule, case: &'a TestCase, time: Option<Duration>) -> Vec<StepRun<'a>> {
    let limits = local::limits(case.point, time);
    let (first, second) = (play(local, limits, case).await, play(local, limits, case).await);
    let runs = case.steps.iter().zip(first.into_iter().zip(second));
    runs.map(|(step, (report, again))| {
        let problems = check_step(step, &report, &again);
        let (micros, compute_micros) =
            (report.micros.min(again.micros), report.compute_micros.min(again.compute_micros));
        StepRun { step, report: CallReport { micros, compute_micros, ..report }, problems, limits }
    })
    .collect()
}

async fn play(local: &LocalModule, limits: Limits, case: &TestCase) -> Vec<CallReport<Value>> {
    let mut reports = local.sandbox.run_test_case(&local.module, limits, case).await;
    for _ in 1..MAX_ATTEMPTS {
        if !reports.iter().any(|report| matches!(report.result, Err(CallFailure::TimedOut(_)))) {
            break;
        }
        reports = local.sandbox.run_test_case(&local.module, limits, case).await;
    }
    reports
}

fn check_step(step: &Step, report: &CallReport<Value>, again: &CallReport<Value>) -> Vec<String> {
    let (answer, second) = (Answer::of(report), Answer::of(again));
    let timed_out = |report: &CallReport<Value>| matches!(report.result, Err(CallFailure::TimedOut(_)));
    let is_same = answer == second
        && report.fuel == again.fuel
        && report.logs == again.logs
        && report.host_calls == again.host_calls;
    if !is_same && !timed_out(report) && !timed_out(again) {
        let shown = |answer: &Answer, report: &CallReport<Value>| {
            format!("{} with {} fuel", one_line(answer.to_json()), format::number(report.fuel))
        };
        return vec![format!("two runs differ: {}, then {}", shown(&answer, report), shown(&second, again))];
    }
    match &step.expect {
        Some(expect) => differences(expect.to_json(), answer.to_json()),
        None => vec![
            format!("no expected answer yet; got {}", one_line(answer.to_json())),
            "(`hub module test --update` stores it)".to_owned(),
        ],
    }
}

impl StepRun<'_> {
    /// Warnings about limits of which more than half was used.
    fn warnings(&self) -> Vec<String> {
        let (report, limits) = (&self.report, &self.limits);
        let mut warnings = vec![];
        let mut check = |what: &str, used: u64, limit: u64, show: &dyn Fn(u64) -> String| {
            if used.saturating_mul(2) > limit {
                let percent = used.saturating_mul(100) / limit.max(1);
                warnings.push(format!("uses {percent} % of the {what} limit: {} of {}", show(used), show(limit)));
            }
        };
        let log_lines = report.logs.len() as u64 + u64::from(report.logs_dropped);
        let bytes = |bytes: u64| format::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        check(
            "computing time",
            report.compute_micros,
            u64::try_from(limits.compute.as_micros()).unwrap_or(u64::MAX),
            &format::millis,
        );
        check("fuel", report.fuel, limits.fuel, &format::number);
        check("memory", report.memory_bytes as u64, limits.memory_bytes as u64, &bytes);
        check("host calls", report.host_calls.len() as u64, u64::from(limits.host_calls), &format::number);
        check("log lines", log_lines, limits.log_lines as u64, &format::number);
        warnings
    }

    fn details(&self) -> Vec<String> {
        let why = self.report.result.as_ref().err().map(explain).unwrap_or_default();
        why.lines().map(str::to_owned).chain(trace(&report_json(&self.report))).collect()
    }

    fn to_json(&self) -> Value {
        let mut shown = report_json(&self.report);
        shown["expected"] = json!(self.step.expect.as_ref().map(Answer::to_json));
        shown["answer"] = Answer::of(&self.report).to_json().clone();
        shown["wrong"] = self.problems.clone().into();
        shown["warnings"] = self.warnings().into();
        shown
    }
}

/// Formats a case as one line with the highest cost of its steps (limits apply per call), then lines about its steps.
fn case_report(name: &str, width: usize, ok: bool, steps: &[StepRun<'_>], verbose: bool) -> String {
    let highest =
        |cost: &dyn Fn(&CallReport<Value>) -> u64| steps.iter().map(|ran| cost(&ran.report)).max().unwrap_or(0);
    let micros = format::millis(highest(&|report| report.micros));
    let fuel = format::number(highest(&|report| report.fuel));
    let memory = format::bytes(steps.iter().map(|ran| ran.report.memory_bytes).max().unwrap_or(0));
    let verdict = if ok { "ok" } else { "FAILED" };
    let mut lines = vec![format!("{verdict:<6}  {name:<width$}  {micros:>9}  {fuel:>11} fuel  {memory:>8}")];
    for (at, ran) in steps.iter().enumerate() {
        let mut notes = ran.problems.clone();
        if verbose || !ran.problems.is_empty() {
            notes.extend(ran.details());
        }
        notes.extend(ran.warnings().into_iter().map(|warning| format!("warning: {warning}")));
        if !notes.is_empty() && steps.len() > 1 {
            lines.push(format!("        step {}", at + 1));
        }
        lines.extend(notes.into_iter().map(|line| format!("          {}", line.replace('\n', "\n          "))));
    }
    lines.join("\n")
}

/// Collects and describes the answers that differ from the expected ones.
fn collect_updates(at: usize, case: &TestCase, steps: &[StepRun<'_>], new: &mut Vec<NewAnswer>) -> String {
    let before = new.len();
    let mut lines = vec![];
    for (step, ran) in steps.iter().enumerate() {
        let answer = Answer::of(&ran.report);
        if ran.step.expect.as_ref() == Some(&answer) {
            continue;
        }
        let suffix = if steps.len() > 1 { format!(" (step {})", step + 1) } else { String::new() };
        let was = ran.step.expect.as_ref().map_or_else(|| "nothing".to_owned(), |was| one_line(was.to_json()));
        lines.push(format!("changed  {}{suffix}", case.name));
        lines.push(format!("         was {was}"));
        lines.push(format!("         is  {}", one_line(answer.to_json())));
        new.push(NewAnswer { case: at, step, answer });
    }
    if new.len() == before { format!("same     {}", case.name) } else { lines.join("\n") }
}

fn write_updates(file: &CaseFile, new: &[NewAnswer]) -> anyhow::Result<()> {
    let path = file.path.display();
    if new.is_empty() {
        println!("{path} is unchanged");
        return Ok(());
    }
    std::fs::write(&file.path, write_answers(&file.text, new)?).with_context(|| format!("cannot write {path}"))?;
    println!("{path}: {} written", format::count(new.len(), "answer"));
    Ok(())
}
