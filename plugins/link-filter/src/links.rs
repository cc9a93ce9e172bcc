//! Finds links in a line.

use crate::config::Config;
use crate::text::{Dot, Letter, read};
use std::ops::Range;

/// Endings that count even if the dots before them have spaces around.
const SURE_ENDINGS: [&str; 4] = ["com", "net", "org", "gg"];

/// A link, normalized, and its position in the message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) host: String,
    /// Without the slash before it.
    pub(crate) path: String,
    pub(crate) bytes: Range<usize>,
}

impl Link {
    /// True if the owner allows it.
    pub(crate) fn is_allowed(&self, config: &Config) -> bool {
        config.allow.iter().any(|allowed| self.is_below(allowed))
    }

    fn is_below(&self, allowed: &str) -> bool {
        let allowed = allowed.trim().to_lowercase();
        let allowed = allowed.split_once("://").map_or(&*allowed, |(_, rest)| rest);
        let allowed = allowed.strip_prefix("www.").unwrap_or(allowed).trim_end_matches('/');
        let (host, path) = allowed.split_once('/').unwrap_or((allowed, ""));
        let within =
            |rest: Option<&str>, ends: &[char]| rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(ends));
        let path_rest = self.path.strip_prefix(path);
        within(self.host.strip_suffix(host), &['.'])
            && !host.is_empty()
            && (path.is_empty() || path_rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#'])))
    }
}

/// The links of a line, in order.
pub(crate) fn find(config: &Config, message: &str) -> Vec<Link> {
    let line = read(message);
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        match link(config, &line, at) {
            Some((link, end)) => {
                found.push(link);
                at = end;
            }
            // Skips the whole name, so that no part of it is taken for a link.
            None => at = name_end(&line, at).max(at + 1),
        }
    }
    found
}

/// The link that begins here, and its end.
fn link(config: &Config, line: &[Letter], from: usize) -> Option<(Link, usize)> {
    let scheme = scheme(line, from);
    let start = scheme.unwrap_or(from);
    // A name before an `@` is a user, not a host.
    let is_explicit = scheme.is_some() || (from > 0 && line[from - 1].read == '@');
    let end = name_end(line, start);
    if line.get(end).is_some_and(|letter| letter.read == '@') {
        return None;
    }
    let invite = line.get(start).filter(|letter| letter.dot != Dot::No).map(|_| "discord");
    let (host, end) = host(config, line, start, end, is_explicit)?;
    let (path, end) = path(line, end);
    let host = invite.unwrap_or_default().to_owned() + &host;
    let bytes = line[from].bytes.start..line[end - 1].bytes.end;
    Some((Link { host: host.strip_prefix("www.").unwrap_or(&host).into(), path, bytes }, end))
}

/// Start of the text after a scheme such as `https://`.
fn scheme(line: &[Letter], from: usize) -> Option<usize> {
    let name = line[from..].iter().take_while(|letter| letter.read.is_ascii_alphabetic()).count();
    let slashes = line.get(from + name..from + name + 3)?;
    (name > 1 && slashes.iter().map(|letter| letter.read).eq("://".chars())).then_some(from + name + 3)
}

/// End of the name that begins here: labels with a dot between every two. A dot may be first.
fn name_end(line: &[Letter], from: usize) -> usize {
    let of_label =
        |at: usize| line.get(at).is_some_and(|letter| letter.read.is_alphanumeric() || "-_".contains(letter.read));
    let mut end = from;
    while of_label(end) || (line.get(end).is_some_and(|letter| letter.dot != Dot::No) && of_label(end + 1)) {
        end += 1;
    }
    end
}

/// The host that begins with the name, and its end.
fn host(config: &Config, line: &[Letter], start: usize, end: usize, is_explicit: bool) -> Option<(String, usize)> {
    let name: String = line[start..end].iter().map(|letter| letter.read).collect();
    let labels: Vec<&str> = name.split('.').collect();
    if labels.len() < 2 {
        return None;
    }
    if labels.iter().all(|label| label.bytes().all(|digit| digit.is_ascii_digit())) {
        // Exactly four numbers: others are a version, a date or a price.
        let address = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
        return (config.addresses && address).then_some((name, end));
    }
    let has_path = line.get(end).is_some_and(|next| next.read == '/') && name_end(line, end + 1) > end + 1;
    if labels[0].is_empty() {
        // An invitation without its host: `.gg/name`.
        return (labels.len() == 2 && labels[1] == "gg" && has_path).then_some((name, end));
    }
    let port = line.get(end).is_some_and(|next| next.read == ':')
        && line.get(end + 1).is_some_and(|next| next.read.is_ascii_digit());
    let last = labels[labels.len() - 1];
    if (is_explicit || has_path || port || labels[0] == "www")
        && last.chars().count() > 1
        && last.chars().all(char::is_alphabetic)
    {
        return Some((name, end));
    }
    // Without a space in between, the next sentence may follow the link.
    let mut length = name.chars().count();
    for count in (2..=labels.len()).rev() {
        let ending = labels[count - 1];
        let sure = line[start..start + length].iter().all(|letter| letter.dot != Dot::Loose);
        if config.is_ending(ending) && (sure || SURE_ENDINGS.contains(&ending)) {
            return Some((labels[..count].join("."), start + length));
        }
        length -= ending.chars().count() + 1;
    }
    None
}

/// The path after a host and its port, and its end.
fn path(line: &[Letter], host_end: usize) -> (String, usize) {
    let is = |at: usize, read: char| line.get(at).is_some_and(|letter| letter.read == read);
    let mut end = host_end;
    if is(end, ':') {
        let digits = line[end + 1..].iter().take_while(|letter| letter.read.is_ascii_digit()).count();
        end += if digits > 0 { 1 + digits } else { 0 };
    }
    if !is(end, '/') && !is(end, '?') {
        return (String::new(), end);
    }
    let path = line[end..].iter().take_while(|letter| !letter.read.is_whitespace() && letter.bytes.len() <= 4);
    let path: String = path.map(|letter| letter.read).collect();
    end += path.chars().count();
    (path.trim_start_matches('/').into(), end)
}

#[cfg(test)]
mod tests;
