//! Bounds of a manifest, each error with its JSON pointer.

use super::endpoints::{Dedupe, Endpoint, Method, Signature};
use super::schema::escape;
use super::{Invalid, Manifest};
use crate::contract::TIMERS;
use serde_path_to_error::{Path, Segment};

const MAX_TYPES: usize = 64;
const MAX_ENDPOINTS: usize = 32;
const MAX_SCHEDULES: usize = 16;
const MAX_HOSTS: usize = 16;
const MAX_SECRETS: usize = 16;
const MAX_NEEDS: usize = 64;
const MAX_HEADERS: usize = 16;
const MAX_SEGMENTS: usize = 8;
const MAX_RATE: u32 = 600;
const MAX_DESCRIPTION: usize = 512;

/// Events that are never handed over: they carry secrets, or belong to one connection.
const NEVER_HANDED_OVER: [&str; 10] = [
    "SIGNING_SECRET_ROTATED",
    "EXECUTE_COMMAND",
    "TRANSFER",
    "PING",
    "RESYNC",
    "SESSION_REQUESTED",
    "TICKET_UPDATED",
    "WORLD_OPEN",
    "WORLD_SNAPSHOT",
    "WORLD_UNLOAD",
];

/// The JSON pointer of a path.
pub(super) fn pointer(path: &Path) -> String {
    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", escape(key)),
        Segment::Enum { variant } => format!("/{}", escape(variant)),
        Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

type Checked = Result<(), Invalid>;

fn refuse(pointer: impl Into<String>, reason: impl Into<String>) -> Checked {
    Err(Invalid::new(pointer, reason))
}

pub(super) fn check(manifest: &Manifest) -> Checked {
    if manifest.manifest != 1 {
        return refuse("/manifest", format!("this hub reads manifests of version 1, not {}", manifest.manifest));
    }
    if let Some(name) = &manifest.name
        && !is_name(name)
    {
        return refuse("/name", "must have 1 to 64 of a-z, 0-9 and -, beginning with a letter");
    }
    if manifest.description.as_ref().is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return refuse("/description", format!("must have at most {MAX_DESCRIPTION} characters"));
    }
    check_events(manifest)?;
    check_endpoints(manifest)?;
    check_schedules(manifest)?;
    check_needs(manifest)
}

fn check_events(manifest: &Manifest) -> Checked {
    let Some(events) = &manifest.events else { return Ok(()) };
    if !(1..=MAX_TYPES).contains(&events.types.len()) {
        return refuse("/events/types", format!("must name 1 to {MAX_TYPES} types of events"));
    }
    for (index, kind) in events.types.iter().enumerate() {
        let place = format!("/events/types/{index}");
        let allowed = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        if kind.is_empty() || kind.len() > 64 || !kind.bytes().all(allowed) {
            return refuse(place, format!("`{kind}` is no type of events"));
        }
        if NEVER_HANDED_OVER.contains(&kind.as_str()) {
            return refuse(place, format!("{kind} is never handed to a module"));
        }
        if events.types[..index].contains(kind) {
            return refuse(place, format!("{kind} is named twice"));
        }
    }
    Ok(())
}

fn check_endpoints(manifest: &Manifest) -> Checked {
    let endpoints = &manifest.endpoints;
    if endpoints.len() > MAX_ENDPOINTS {
        return refuse("/endpoints", format!("a module has at most {MAX_ENDPOINTS} endpoints"));
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        let at = format!("/endpoints/{index}");
        check_endpoint(endpoint, &at)?;
        for before in &endpoints[..index] {
            if before.name == endpoint.name {
                return refuse(format!("{at}/name"), format!("there are two endpoints `{}`", endpoint.name));
            }
            if before.method == endpoint.method && shape(&before.path) == shape(&endpoint.path) {
                return refuse(format!("{at}/path"), format!("it matches the same requests as `{}`", before.name));
            }
        }
        if let Some(signature) = &endpoint.signature
            && !manifest.needs.secrets.iter().any(|secret| secret == signature.secret())
        {
            let secret = signature.secret();
            return refuse(format!("{at}/signature/secret"), format!("`{secret}` is not among the secrets"));
        }
    }
    Ok(())
}

/// A path with its parameters' names left out.
fn shape(path: &str) -> Vec<&str> {
    path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect()
}

fn check_endpoint(endpoint: &Endpoint, at: &str) -> Checked {
    if !is_label(&endpoint.name) {
        return refuse(format!("{at}/name"), LABEL_RULE);
    }
    let segments: Vec<_> = endpoint.path.split('/').collect();
    if segments.len() > MAX_SEGMENTS {
        return refuse(format!("{at}/path"), format!("a path has 1 to {MAX_SEGMENTS} segments"));
    }
    let mut parameters = Vec::new();
    for segment in segments {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
        let fine = match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => {
                is_label(name) && !parameters.contains(&name) && {
                    parameters.push(name);
                    true
                }
            }
            None => !segment.is_empty() && segment != "." && segment != ".." && segment.bytes().all(plain),
        };
        if !fine {
            let reason = format!("`{segment}` is neither 1 or more of A-Z a-z 0-9 . _ ~ - nor a `{{name}}` used once");
            return refuse(format!("{at}/path"), reason);
        }
    }
    if endpoint.headers.len() > MAX_HEADERS {
        return refuse(format!("{at}/headers"), format!("at most {MAX_HEADERS} headers"));
    }
    for (index, header) in endpoint.headers.iter().enumerate() {
        if !is_shown_header(header) {
            return refuse(format!("{at}/headers/{index}"), format!("`{header}` can't be shown to a module"));
        }
    }
    if let Some(rate) = endpoint.rate_per_minute
        && !(1..=MAX_RATE).contains(&rate)
    {
        return refuse(format!("{at}/ratePerMinute"), format!("must be 1 to {MAX_RATE}"));
    }
    match &endpoint.signature {
        Some(_) if !endpoint.public => return refuse(format!("{at}/signature"), "only public endpoints have one"),
        Some(Signature::HmacSha256 { header, .. }) if !is_header(header) => {
            return refuse(format!("{at}/signature/header"), "must be the name of a header, in lower case");
        }
        _ => {}
    }
    match &endpoint.dedupe {
        Some(_) if endpoint.method == Method::Get => refuse(format!("{at}/dedupe"), "GET changes nothing"),
        Some(_) if endpoint.public && endpoint.signature.is_none() => {
            // A stranger would take the keys of others.
            refuse(format!("{at}/dedupe"), "a public endpoint that has one needs a signature")
        }
        Some(Dedupe::Header(header)) if !is_shown_header(header) => {
            refuse(format!("{at}/dedupe/header"), "must be the name of a header that a module may see, in lower case")
        }
        Some(Dedupe::Json(place)) if !place.starts_with('/') || place.len() > 256 => {
            refuse(format!("{at}/dedupe/json"), "must be a JSON pointer, such as `/id`")
        }
        _ => Ok(()),
    }
}

fn check_schedules(manifest: &Manifest) -> Checked {
    let schedules = &manifest.schedules;
    if schedules.len() > MAX_SCHEDULES {
        return refuse("/schedules", format!("a module has at most {MAX_SCHEDULES} schedules"));
    }
    for (index, schedule) in schedules.iter().enumerate() {
        if !is_label(&schedule.name) {
            return refuse(format!("/schedules/{index}/name"), LABEL_RULE);
        }
        if schedules[..index].iter().any(|before| before.name == schedule.name) {
            return refuse(format!("/schedules/{index}/name"), format!("there are two schedules `{}`", schedule.name));
        }
    }
    Ok(())
}

/// Field, content, maximum length, rule of each entry, and that rule in words.
type Need<'a> = (&'a str, &'a [String], usize, fn(&str) -> bool, &'a str);

fn check_needs(manifest: &Manifest) -> Checked {
    let needs = &manifest.needs;
    let checks: [Need<'_>; 5] = [
        ("hosts", &needs.hosts, MAX_HOSTS, is_host, "must be the name of a host, such as `discord.com`"),
        ("secrets", &needs.secrets, MAX_SECRETS, is_secret, "must have 1 to 64 of A-Z, 0-9 and _"),
        ("scopes", &needs.scopes, MAX_NEEDS, is_scope, "must be a scope, such as `economy:write`"),
        ("permissionNodes", &needs.permission_nodes, MAX_NEEDS, is_node, "must be a permission node, not `*` alone"),
        ("commands", &needs.commands, MAX_NEEDS, is_command, "must be the first word of a command, or `*`"),
    ];
    for (field, list, most, fits, rule) in checks {
        if list.len() > most {
            return refuse(format!("/{field}"), format!("at most {most}"));
        }
        for (index, one) in list.iter().enumerate() {
            let place = format!("/{field}/{index}");
            if !fits(one) {
                return refuse(place, rule);
            }
            if list[..index].contains(one) {
                return refuse(place, format!("`{one}` is named twice"));
            }
        }
    }
    Ok(())
}

impl Manifest {
    /// Checks that it declares the interfaces that its module exports, and no others.
    pub(crate) fn check_exports(&self, interfaces: &[&str]) -> Checked {
        let kinds = [
            ("events", self.events.is_some(), "does not say which types it handles"),
            ("endpoints", !self.endpoints.is_empty(), "declares none"),
            ("schedules", !self.schedules.is_empty(), "declares none"),
            (TIMERS, self.timers, "does not declare them: `timers = true`"),
        ];
        for (name, is_declared, lack) in kinds {
            match (is_declared, interfaces.contains(&name)) {
                (false, true) => return refuse(format!("/{name}"), format!("the module exports `{name}`, but {lack}")),
                (true, false) => return refuse(format!("/{name}"), format!("the module does not export `{name}`")),
                (true, true) | (false, false) => {}
            }
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= 64 && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && name.bytes().all(allowed)
}

const LABEL_RULE: &str = "must have 1 to 64 of A-Z, a-z, 0-9, _ and -";

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

fn is_header(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

/// Headers that carry rights of callers, and what only the hub or a proxy says.
const HIDDEN_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "forwarded",
    "x-service-api-key",
    "x-csrf-token",
    "x-network-id",
    "x-real-ip",
    "cf-connecting-ip",
    "true-client-ip",
];

/// True for a header that a module may be shown.
pub fn is_shown_header(text: &str) -> bool {
    is_header(text)
        && !HIDDEN_HEADERS.contains(&text)
        && !text.starts_with("x-forwarded-")
        && !text.starts_with("x-hub-")
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // The last label of an address is a number.
    let is_named = text.rsplit('.').next().is_some_and(|last| last.bytes().any(|byte| byte.is_ascii_lowercase()));
    text.len() <= 253 && text.contains('.') && is_named && text.split('.').all(label)
}

fn is_secret(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

fn is_scope(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b':' || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

fn is_node(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic();
    (1..=256).contains(&text.len()) && text != "*" && text.bytes().all(allowed)
}

fn is_command(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
