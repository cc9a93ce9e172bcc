//! Finds the endpoint of a request.

use super::state::ServedEndpoint;

/// Segments of a path, decoded; none if they are no text.
pub(super) fn segments(path: &str) -> Option<Vec<String>> {
    path.split('/').map(decode).collect()
}

fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    // PostgreSQL's texts have no U+0000.
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty() && !text.contains('\0'))
}

/// Parameters of a path, by name.
pub(super) type Parameters = Vec<(String, String)>;

/// Outcome of a search.
pub(super) enum Found<'a> {
    Endpoint(&'a ServedEndpoint, Parameters),
    /// The path is there with other methods.
    OtherMethod,
    Nothing,
}

/// The endpoint of a module's path. A fixed segment comes before a parameter.
pub(super) fn find<'a>(routes: impl Iterator<Item = &'a ServedEndpoint>, method: &str, path: &[String]) -> Found<'a> {
    let mut best: Option<(Vec<bool>, &ServedEndpoint, Parameters)> = None;
    let mut has_path = false;
    for route in routes {
        let Some((places, parameters)) = matched(&route.endpoint.path, path) else { continue };
        has_path = true;
        let is_better = best.as_ref().is_none_or(|(before, ..)| places < *before);
        if route.endpoint.method.name() == method && is_better {
            best = Some((places, route, parameters));
        }
    }
    match best {
        Some((_, route, parameters)) => Found::Endpoint(route, parameters),
        None if has_path => Found::OtherMethod,
        None => Found::Nothing,
    }
}

/// Places of the parameters in a pattern that fits, and their values.
fn matched(pattern: &str, path: &[String]) -> Option<(Vec<bool>, Parameters)> {
    let pattern: Vec<_> = pattern.split('/').collect();
    if pattern.len() != path.len() {
        return None;
    }
    let (mut places, mut parameters) = (vec![], vec![]);
    for (expected, sent) in pattern.into_iter().zip(path) {
        match expected.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => parameters.push((name.to_owned(), sent.clone())),
            None if expected == sent => {}
            None => return None,
        }
        places.push(expected.starts_with('{'));
    }
    Some((places, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(pattern: &str, path: &str) -> Option<(Vec<bool>, Parameters)> {
        matched(pattern, &segments(path)?)
    }

    #[test]
    fn parameters_are_decoded_after_the_split() {
        let (_, parameters) = matching("players/{name}/history", "players/a%2Fb%20c/history").unwrap();
        assert_eq!(parameters, [("name".to_owned(), "a/b c".to_owned())]);
        for (pattern, path) in [
            ("vote", "votes"),
            ("vote", "vote/"),
            ("vote", ""),
            ("{a}", ""),
            ("{a}", "%00"),
            ("{a}", "%ff"),
            ("{a}", "%4"),
            ("{a}", "a/b"),
        ] {
            assert_eq!(matching(pattern, path), None, "{pattern} {path}");
        }
        assert!(matching("vote", "%76ote").is_some());
    }

    #[test]
    fn a_fixed_segment_comes_before_a_parameter() {
        let places = |pattern: &str| matching(pattern, "players/top").unwrap().0;
        assert!(places("players/top") < places("players/{name}"));
        assert!(places("players/{name}") < places("{kind}/top"));
    }
}
