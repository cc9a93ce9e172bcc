//! Drawings of templates: faces, meters, bars and times. Widths are attributes, because the policy allows no styles.

use std::convert::Infallible;
use std::fmt::Write as _;

use jiff::Timestamp;
use minijinja::value::{Kwargs, Value};
use qrcodegen::{QrCode, QrCodeEcc};
use sha2::{Digest as _, Sha256};

use crate::language::Language;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Text as it may stand in HTML, and in an attribute between quotes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let Ok(()) = escape(text, |piece| {
        escaped.push_str(piece);
        Ok::<(), Infallible>(())
    });
    escaped
}

/// Passes on the pieces of such a text, until one is refused: all together may be six times as long.
pub(crate) fn escape<E>(text: &str, mut write: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        write(&rest[..at])?;
        write(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    write(rest)
}

/// A picture of a name, the same everywhere.
pub(crate) fn face(name: &Value, size: Option<&str>) -> Value {
    let digest = Sha256::digest(name.to_string());
    let mut on: Vec<usize> = (0..15).filter(|at| digest[*at] & 1 == 1).collect();
    if on.len() < 7 {
        on = (0..15).filter(|at| !on.contains(at)).collect();
    }
    let mut cells = String::new();
    for at in on {
        let (x, y) = (at % 3, at / 3);
        let columns = if x == 4 - x { vec![x] } else { vec![x, 4 - x] };
        for column in columns {
            let _ = write!(cells, "M{} {}h1v1h-1z", column + 1, y + 1);
        }
    }
    let tone = ["", "b", "c", "d", "e"][usize::from(digest[20]) % 5];
    let size = size.unwrap_or_default();
    Value::from_safe_string(format!(
        r#"<svg class="face {tone} {size}" viewBox="0 0 7 7" aria-hidden="true" shape-rendering="crispEdges"><path d="{cells}"/></svg>"#
    ))
}

/// A share of a whole.
pub(crate) fn meter(used: f64, most: f64, label: &str, tone: Option<&str>) -> Value {
    let percent = if most > 0.0 { (used * 100.0 / most).clamp(0.0, 100.0) } else { 0.0 };
    let (percent, label, tone) = (percent.max(1.0).round(), escaped(label), escaped(tone.unwrap_or_default()));
    Value::from_safe_string(format!(
        r#"<svg class="meter {tone}" role="img" aria-label="{label}"><rect width="100%"/><rect width="{percent}%"/></svg>"#
    ))
}

/// A bar for each value, below a label for the whole.
#[allow(clippy::needless_pass_by_value, reason = "templates pass values")]
pub(crate) fn bars(values: Vec<f64>, label: &str, axis: Kwargs) -> Value {
    // Values in the unit of the axis.
    let unit = axis.get("unit").unwrap_or(1.0);
    let values: Vec<f64> = values.iter().map(|value| value / unit).collect();
    let top = values.iter().copied().fold(1.0, f64::max);
    let width = 600.0 / values.len().max(1) as f64;
    let mut drawn = String::new();
    for y in [0, 100, 200] {
        let _ = write!(drawn, r#"<path class="g" d="M0 {y}H600"/>"#);
    }
    for (at, value) in values.iter().enumerate() {
        let (x, height) = (at as f64 * width + width * 0.16, value * 200.0 / top);
        let _ = write!(
            drawn,
            r#"<rect class="b1" x="{x:.1}" y="{:.1}" width="{:.1}" height="{height:.1}"/>"#,
            200.0 - height,
            width * 0.68
        );
    }
    let marks = |name: &str| -> String {
        let marks: Vec<String> = axis.get(name).unwrap_or_default();
        marks.iter().map(|mark| format!("<span>{}</span>", escaped(mark))).collect::<Vec<_>>().concat()
    };
    let (x, label, top) = (marks("x"), escaped(label), top.round());
    Value::from_safe_string(format!(
        r#"<div class="chart s" role="img" aria-label="{label}"><div class="y" aria-hidden="true"><span>{top}</span><span>0</span></div><svg viewBox="0 0 600 200" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg><div class="x" aria-hidden="true">{x}</div></div>"#
    ))
}

/// A curve of today above that of another day, dashed, below a label for the whole. Values may be missing.
#[allow(clippy::needless_pass_by_value, reason = "templates pass values")]
pub(crate) fn curve(today: Vec<Option<f64>>, before: Vec<Option<f64>>, label: &str) -> Value {
    let top = today.iter().chain(&before).flatten().copied().fold(1.0, f64::max);
    let step = 600.0 / (today.len().max(2) - 1) as f64;
    let path = |values: &[Option<f64>]| {
        let known = values
            .iter()
            .enumerate()
            .filter_map(|(at, value)| Some((at as f64 * step, 200.0 - (*value)? * 200.0 / top)));
        known.map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L")
    };
    let (line, other) = (path(&today), path(&before));
    let mut drawn = String::new();
    for y in [0, 100, 200] {
        let _ = write!(drawn, r#"<path class="g" d="M0 {y}H600"/>"#);
    }
    if let (Some((first, _)), Some(last)) = (line.split_once(' '), line.rsplit('L').next()) {
        let end = last.split(' ').next().unwrap_or_default();
        let _ = write!(drawn, r#"<path class="a1" d="M{first} 200L{line}L{end} 200z"/><path class="l1" d="M{line}"/>"#);
    }
    if !other.is_empty() {
        let _ = write!(drawn, r#"<path class="l2" d="M{other}"/>"#);
    }
    let (label, top) = (escaped(label), top.round());
    Value::from_safe_string(format!(
        r#"<div class="chart" role="img" aria-label="{label}"><div class="y" aria-hidden="true"><span>{top}</span><span>0</span></div><svg viewBox="0 0 600 200" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg></div>"#
    ))
}

/// A text for the camera of a phone; nothing if it is too long for one.
pub(crate) fn code(text: &str, label: &str) -> Value {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else { return Value::from("") };
    let mut cells = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            let _ = write!(cells, "M{} {}h1v1h-1z", x + 4, y + 4);
        }
    }
    let (side, label) = (code.size() + 8, escaped(label));
    Value::from_safe_string(format!(
        r##"<svg class="qr" role="img" aria-label="{label}" viewBox="0 0 {side} {side}" width="196" height="196" shape-rendering="crispEdges"><rect width="{side}" height="{side}" fill="#fff"/><path d="{cells}" fill="#000"/></svg>"##
    ))
}

/// A moment: a script shows it in the reader's time zone.
pub(crate) fn time(millis: &Value) -> Value {
    let Some(at) = millis.as_i64().and_then(|millis| Timestamp::from_millisecond(millis).ok()) else {
        return Value::from("–");
    };
    let (text, whole) = (at.strftime("%-d %b, %H:%M"), at.strftime("%Y-%m-%dT%H:%M:%SZ"));
    let title = at.strftime("%Y-%m-%d %H:%M:%S UTC");
    Value::from_safe_string(format!(r#"<time datetime="{whole}" title="{title}">{text}</time>"#))
}

/// The time of a line in a log.
pub(crate) fn clock(millis: &Value) -> Value {
    let Some(at) = millis.as_i64().and_then(|millis| Timestamp::from_millisecond(millis).ok()) else {
        return Value::from_safe_string("<time></time>".to_owned());
    };
    let (text, whole) = (at.strftime("%H:%M:%S"), at.strftime("%Y-%m-%dT%H:%M:%SZ"));
    Value::from_safe_string(format!(r#"<time datetime="{whole}">{text}</time>"#))
}

/// A number of bytes in its largest unit.
pub(crate) fn size(bytes: &Value) -> String {
    let mut left = bytes.as_i64().unwrap_or(0) as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if left < 1000.0 {
            return if unit == "B" { format!("{left:.0} B") } else { format!("{left:.1} {unit}") };
        }
        left /= 1000.0;
    }
    format!("{left:.1} TB")
}

/// A length of time in its two largest units.
pub(crate) fn span(language: &Language, millis: &Value) -> String {
    let Some(millis) = millis.as_i64() else { return String::new() };
    let text = |text: &str, n: i64| language.text(text, &Kwargs::from_iter([("n", Value::from(n))]));
    let (days, hours, minutes) = (millis / DAY, millis % DAY / HOUR, millis % HOUR / MINUTE);
    let seconds = millis % MINUTE / 1000;
    match (days, hours, minutes) {
        (0, 0, 0) => text("{n} s", seconds),
        (0, 0, _) => text("{n} min", minutes),
        (0, _, 0) => text("{n} h", hours),
        (0, ..) => format!("{} {}", text("{n} h", hours), text("{n} min", minutes)),
        (_, 0, _) | (3.., ..) => text("{n} day|{n} days", days),
        _ => format!("{} {}", text("{n} day|{n} days", days), text("{n} h", hours)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_two_units_at_most() {
        let english = &Language::all()[0];
        let shown = |millis: i64| span(english, &Value::from(millis));
        assert_eq!((shown(9_000), shown(61_000)), ("9 s".to_owned(), "1 min".to_owned()));
        assert_eq!((shown(HOUR + 5 * MINUTE), shown(DAY)), ("1 h 5 min".to_owned(), "1 day".to_owned()));
        assert_eq!(shown(30 * DAY + HOUR), "30 days");
    }

    #[test]
    fn a_curve_leaves_out_what_is_not_known() {
        let drawn = curve(vec![None, Some(5.0), Some(10.0)], vec![None, None, None], "\"><b>").to_string();
        assert!(drawn.contains(r#"class="l1" d="M300.0 100.0L600.0 0.0""#) && !drawn.contains("l2"), "{drawn}");
        assert!(drawn.contains("&quot;&gt;&lt;b&gt;") && !curve(vec![], vec![], "").to_string().contains("l1"));
    }

    #[test]
    fn a_link_is_a_code_with_its_three_corners() {
        let drawn =
            code("otpauth://totp/Hub:mira@larkspur.example?secret=JBSWY3DPEHPK3PXP&issuer=Hub", "\"><b>").to_string();
        assert!(drawn.contains("M4 4h1") && drawn.contains("&quot;&gt;&lt;b&gt;") && drawn.len() < 30_000, "{drawn}");
        assert_eq!(code(&"x".repeat(9_000), "").to_string(), "");
    }

    #[test]
    fn names_cannot_leave_their_attribute() {
        assert!(meter(1.0, 2.0, "\"><script>", None).to_string().contains("&quot;&gt;&lt;script&gt;"));
        assert_eq!(face(&"a".into(), None).to_string(), face(&"a".into(), None).to_string());
    }
}
