//! Running a module's test cases.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use hub_sandbox::test_case::{Answer, NewAnswer, Step, TestCase, one_line, write_answers};
use hub_sandbox::{CallFailure, CallReport, Limits};
use serde_json::{Value, json};

use crate::cli::module::difference::differences;
use crate::cli::module::report::{report_of, traces};
use crate::cli::module::workshop::{self, CaseFile, Workshop};
use crate::cli::module::{explain, show};

/// A busy machine may make a call miss its deadline; a module that is too slow misses it each time.
const TRIES: usize = 4;

#[derive(Args, Debug)]
pub(in crate::cli) struct Test {
    #[command(flatten)]
    subject: workshop::Subject,
    /// Write down what the module answers as what is expected
    #[arg(long)]
    update: bool,
    /// Show logs and host calls of all cases, not only of those that failed
    #[arg(short, long)]
    verbose: bool,
    /// A time limit for each call in place of the point's own, for machines much slower than your hub's
    #[arg(long, value_name = "MS")]
    time_limit: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How one step of a case went.
struct Ran<'a> {
    step: &'a Step,
    report: CallReport<Value>,
    /// What is wrong with it; nothing where it is as expected.
    wrong: Vec<String>,
    limits: Limits,
}

impl Test {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let time = self.time_limit.map(Duration::from_millis);
        let (workshop, file) = self.subject.open().await?;
        let tell = |text: &str| {
            if !self.json {
                println!("{text}");
            }
        };
        let size = show::bytes(workshop.bytes);
        tell(&format!("{}: {size}, serves {}", workshop.file.display(), workshop.points()));
        let width = file.cases.iter().map(|(_, case)| case.name.chars().count()).max().unwrap_or(0);
        let (mut results, mut new, mut failed) = (vec![], vec![], 0);
        for (at, case) in &file.cases {
            let steps = run_case(&workshop, case, time).await;
            if self.update {
                tell(&updates(*at, case, &steps, &mut new));
                continue;
            }
            let ok = steps.iter().all(|ran| ran.wrong.is_empty());
            failed += usize::from(!ok);
            tell(&line(&case.name, width, ok, &steps, self.verbose));
            results.push(
                json!({"name": case.name, "ok": ok, "steps": steps.iter().map(Ran::to_json).collect::<Vec<_>>()}),
            );
        }
        if self.update {
            return update(&file, &new);
        }
        let ok = file.cases.len() - failed;
        if self.json {
            println!("{}", json!({"ok": ok, "failed": failed, "cases": results}));
        }
        let all = file.cases.len();
        tell(&format!("{}: {ok} ok, {failed} failed", show::count(all, "case")));
        anyhow::ensure!(failed == 0, "{failed} of {} failed", show::count(all, "case"));
        Ok(())
    }
}

/// Runs a case twice and judges it.
async fn run_case<'a>(workshop: &Workshop, case: &'a TestCase, time: Option<Duration>) -> Vec<Ran<'a>> {
    let limits = workshop::limits(case.point, time);
    let (first, second) = (play(workshop, limits, case).await, play(workshop, limits, case).await);
    let runs = case.steps.iter().zip(first.into_iter().zip(second));
    runs.map(|(step, (report, again))| {
        let wrong = judge(step, &report, &again);
        let micros = report.micros.min(again.micros);
        Ran { step, report: CallReport { micros, ..report }, wrong, limits }
    })
    .collect()
}

async fn play(workshop: &Workshop, limits: Limits, case: &TestCase) -> Vec<CallReport<Value>> {
    let mut reports = workshop.sandbox.run_test_case(&workshop.module, limits, case).await;
    for _ in 1..TRIES {
        if !reports.iter().any(|report| report.result == Err(CallFailure::TimedOut)) {
            break;
        }
        reports = workshop.sandbox.run_test_case(&workshop.module, limits, case).await;
    }
    reports
}

fn judge(step: &Step, report: &CallReport<Value>, again: &CallReport<Value>) -> Vec<String> {
    let (answer, other) = (Answer::of(report), Answer::of(again));
    let timed_out = |report: &CallReport<Value>| report.result == Err(CallFailure::TimedOut);
    let same = answer == other
        && report.fuel == again.fuel
        && report.logs == again.logs
        && report.host_calls == again.host_calls;
    if !same && !timed_out(report) && !timed_out(again) {
        let shown = |answer: &Answer, report: &CallReport<Value>| {
            format!("{} with {} fuel", one_line(answer.to_json()), show::number(report.fuel))
        };
        return vec![format!("two runs differ: {}, then {}", shown(&answer, report), shown(&other, again))];
    }
    match &step.expect {
        Some(expect) => differences(expect.to_json(), answer.to_json()),
        None => vec![
            format!("nothing is expected yet; it answered {}", one_line(answer.to_json())),
            "(`hub module test --update` writes that down)".to_owned(),
        ],
    }
}

impl Ran<'_> {
    /// What of its limits it used up more than half of.
    fn warnings(&self) -> Vec<String> {
        let (report, limits) = (&self.report, &self.limits);
        let mut warnings = vec![];
        let mut check = |what: &str, used: u64, limit: u64, show: &dyn Fn(u64) -> String| {
            if used.saturating_mul(2) > limit {
                let percent = used.saturating_mul(100) / limit.max(1);
                warnings.push(format!("it used {percent} % of the {what} it may: {} of {}", show(used), show(limit)));
            }
        };
        let log_lines = report.logs.len() as u64 + u64::from(report.logs_dropped);
        let bytes = |bytes: u64| show::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        check("time", report.micros, u64::try_from(limits.wall.as_micros()).unwrap_or(u64::MAX), &show::millis);
        check("fuel", report.fuel, limits.fuel, &show::number);
        check("memory", report.memory_bytes as u64, limits.memory_bytes as u64, &bytes);
        check("host calls", report.host_calls.len() as u64, u64::from(limits.host_calls), &show::number);
        check("log lines", log_lines, limits.log_lines as u64, &show::number);
        warnings
    }

    fn details(&self) -> Vec<String> {
        let why = self.report.result.as_ref().err().map(explain).unwrap_or_default();
        why.lines().map(str::to_owned).chain(traces(&report_of(&self.report))).collect()
    }

    fn to_json(&self) -> Value {
        let mut shown = report_of(&self.report);
        shown["expected"] = json!(self.step.expect.as_ref().map(Answer::to_json));
        shown["answer"] = Answer::of(&self.report).to_json().clone();
        shown["wrong"] = self.wrong.clone().into();
        shown["warnings"] = self.warnings().into();
        shown
    }
}

/// What is said about a case: one line, and what there is to say about its steps. Its figures are those of its dearest
/// step, since limits are for each call.
fn line(name: &str, width: usize, ok: bool, steps: &[Ran<'_>], verbose: bool) -> String {
    let most = |cost: &dyn Fn(&CallReport<Value>) -> u64| steps.iter().map(|ran| cost(&ran.report)).max().unwrap_or(0);
    let micros = show::millis(most(&|report| report.micros));
    let fuel = show::number(most(&|report| report.fuel));
    let memory = show::bytes(steps.iter().map(|ran| ran.report.memory_bytes).max().unwrap_or(0));
    let word = if ok { "ok" } else { "FAILED" };
    let mut lines = vec![format!("{word:<6}  {name:<width$}  {micros:>9}  {fuel:>11} fuel  {memory:>8}")];
    for (at, ran) in steps.iter().enumerate() {
        let mut said = ran.wrong.clone();
        if verbose || !ran.wrong.is_empty() {
            said.extend(ran.details());
        }
        said.extend(ran.warnings().into_iter().map(|warning| format!("warning: {warning}")));
        if !said.is_empty() && steps.len() > 1 {
            lines.push(format!("        step {}", at + 1));
        }
        lines.extend(said.into_iter().map(|line| format!("          {}", line.replace('\n', "\n          "))));
    }
    lines.join("\n")
}

/// Takes down what a case's steps answered otherwise than expected, and says so.
fn updates(at: usize, case: &TestCase, steps: &[Ran<'_>], new: &mut Vec<NewAnswer>) -> String {
    let before = new.len();
    let mut said = vec![];
    for (step, ran) in steps.iter().enumerate() {
        let answer = Answer::of(&ran.report);
        if ran.step.expect.as_ref() == Some(&answer) {
            continue;
        }
        let place = if steps.len() > 1 { format!(" (step {})", step + 1) } else { String::new() };
        let was = ran.step.expect.as_ref().map_or_else(|| "nothing".to_owned(), |was| one_line(was.to_json()));
        said.push(format!("changed  {}{place}", case.name));
        said.push(format!("         was {was}"));
        said.push(format!("         is  {}", one_line(answer.to_json())));
        new.push(NewAnswer { case: at, step, answer });
    }
    if new.len() == before { format!("same     {}", case.name) } else { said.join("\n") }
}

fn update(file: &CaseFile, new: &[NewAnswer]) -> anyhow::Result<()> {
    let path = file.path.display();
    if new.is_empty() {
        println!("{path} is as it was");
        return Ok(());
    }
    std::fs::write(&file.path, write_answers(&file.text, new)?).with_context(|| format!("{path} can't be written"))?;
    println!("{path}: {} written", show::count(new.len(), "answer"));
    Ok(())
}
