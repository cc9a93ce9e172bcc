//! JSON on one line, and new expected answers in the text of a file.

use super::answer::Answer;
use super::file::TestCaseError;
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;
use serde_json::value::RawValue;
use serde_json::{Serializer, Value};
use std::io::{self, Write};
use std::ops::Range;

/// A value on one line, with spaces for readability.
pub fn one_line(value: &Value) -> String {
    let mut bytes = vec![];
    let mut serializer = Serializer::with_formatter(&mut bytes, Spaced);
    // Writing to memory does not fail, and all keys are text.
    let _ = value.serialize(&mut serializer);
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// The new expected answer of a step.
#[derive(Clone, Debug)]
pub struct NewAnswer {
    /// The case's position in the file.
    pub case: usize,
    /// The step's position in the case.
    pub step: usize,
    /// The answer.
    pub answer: Answer,
}

#[derive(Deserialize)]
struct CaseText<'a> {
    #[serde(borrow)]
    expect: Option<&'a RawValue>,
    #[serde(borrow)]
    steps: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct StepText<'a> {
    #[serde(borrow)]
    expect: Option<&'a RawValue>,
}

/// A file's text with new expected answers; the rest of the text stays.
///
/// # Errors
/// The text is not a file of test cases.
pub fn write_answers(text: &str, answers: &[NewAnswer]) -> Result<String, TestCaseError> {
    let mut edits = vec![];
    let cases: Vec<&RawValue> = parse(text)?;
    for NewAnswer { case, step, answer } in answers {
        let case = cases.get(*case).copied().ok_or_else(|| TestCaseError("there is no such case".to_owned()))?;
        let CaseText { expect, steps } = parse(case.get())?;
        let (whole, expect) = match steps.as_deref().and_then(|steps| steps.get(*step)) {
            Some(step) => (*step, parse::<StepText<'_>>(step.get())?.expect),
            None => (case, expect),
        };
        edits.push(edit(text, whole, expect, answer));
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    for (range, new) in edits {
        text.replace_range(range, &new);
    }
    Ok(text)
}

/// Range of bytes and its replacement: the expected answer, or the space between an object's last member and its end.
fn edit(text: &str, whole: &RawValue, expect: Option<&RawValue>, answer: &Answer) -> (Range<usize>, String) {
    let answer = one_line(answer.to_json());
    // Each is a slice of the text.
    let place = |slice: &str| slice.as_ptr() as usize - text.as_ptr() as usize;
    if let Some(expect) = expect {
        let start = place(expect.get());
        return (start..start + expect.get().len(), answer);
    }
    let members = whole.get().strip_suffix('}').unwrap_or_default().trim_end();
    // On a line of its own if the members before it are.
    let last_line = members.rfind('\n').map(|at| &members[at..]).unwrap_or_default();
    let indent = &last_line[..last_line.len() - last_line.trim_start().len()];
    let indent = if indent.is_empty() { " " } else { indent };
    let end = place(whole.get()) + members.len();
    (end..end, format!(",{indent}\"expect\": {answer}"))
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, TestCaseError> {
    serde_json::from_str(text).map_err(|error| TestCaseError(error.to_string()))
}
