//! Templates of the pages: in the binary, or while developing read from their files, so that a change shows at once.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::LazyLock;

use hub_base::compute::Turn;
use minijinja::value::{Kwargs, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Template, UndefinedBehavior, escape_formatter};

use crate::assets;
use crate::drawing::{self, escape};
use crate::folder::folder;
use crate::kit;
use crate::language::{self, Language};

/// Maximum size of a page: four of the hub's largest answers.
const MOST_BYTES: usize = 16 << 20;

/// `files![…]`: the files of this name, with their content.
macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// Templates by name.
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../files/templates/", $name)))),+];
    };
}

templates![
    "_base.html",
    "_conflict.html",
    "_door.html",
    "_form.html",
    "_paging.html",
    "_player.html",
    "_problem.html",
    "_punishments.html",
    "_scopes.html",
    "_server.html",
    "_state.html",
    "accept.html",
    "activation.html",
    "appeals.html",
    "artifacts.html",
    "audit.html",
    "call.html",
    "calls.html",
    "chain.html",
    "chat.html",
    "code.html",
    "collections.html",
    "config.html",
    "connect.html",
    "dead-letters.html",
    "deliveries.html",
    "device.html",
    "differences.html",
    "door-error.html",
    "door-note.html",
    "error.html",
    "find.html",
    "first.html",
    "home.html",
    "hub-networks.html",
    "hub-nodes.html",
    "hub-people.html",
    "hub-plan.html",
    "hub-plans.html",
    "hub-waitlist.html",
    "import.html",
    "imports.html",
    "keys.html",
    "leaderboards.html",
    "line.html",
    "lines.html",
    "locales.html",
    "lost.html",
    "me.html",
    "module.html",
    "modules.html",
    "money.html",
    "overview.html",
    "people.html",
    "permission-group.html",
    "permissions.html",
    "plan.html",
    "player-data.html",
    "player-money.html",
    "player-permissions.html",
    "player-punishments.html",
    "player.html",
    "players.html",
    "punish.html",
    "punishment.html",
    "punishments.html",
    "replay.html",
    "report.html",
    "reports.html",
    "reset.html",
    "returned.html",
    "revisions.html",
    "role.html",
    "roles.html",
    "schedules.html",
    "secrets.html",
    "server-changes.html",
    "server-history.html",
    "server-players.html",
    "server-settings.html",
    "server.html",
    "servers.html",
    "settings.html",
    "sign-in.html",
    "texts.html",
    "usage.html",
    "webhook-delivery.html",
    "webhook.html",
    "webhooks.html",
    "worlds.html",
];

fn load(name: &str) -> Option<Cow<'static, str>> {
    if let Some(folder) = folder()
        && let Ok(text) = std::fs::read_to_string(folder.join("templates").join(name))
    {
        return Some(text.into());
    }
    let found = TEMPLATES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| (*text).into())
}

fn environment(language: &'static Language) -> Environment<'static> {
    let mut environment = shapes(language);
    environment.set_loader(|name| Ok(load(name).map(Cow::into_owned)));
    environment
}

/// Everything that templates use, without templates.
pub(crate) fn shapes(language: &'static Language) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // The default escapes slashes, too, of which addresses are full.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => Ok(escape(text, |piece| out.write_str(piece))?),
        // A null of the hub says nothing.
        _ if value.is_none() => Ok(()),
        _ => escape_formatter(out, state, value),
    });
    // Fields that a hub leaves out are blank, and have no length.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_function("t", move |text: Value, values: Kwargs| {
        text.as_str().map_or_else(String::new, |text| language.text(text, &values))
    });
    environment.add_function("asset", assets::address);
    environment.add_global("sprite", Value::from_safe_string(assets::sprite()));
    environment.add_filter("length", |value: Value| value.len().unwrap_or(0));
    environment.add_filter("number", |value: Value| value.as_i64().map_or_else(String::new, language::number));
    environment.add_filter("time", drawing::time);
    environment.add_filter("clock", drawing::clock);
    environment.add_filter("filesizeformat", drawing::size);
    environment.add_filter("span", move |millis: Value| drawing::span(language, &millis));
    environment.add_function("code", drawing::code);
    environment.add_function("face", drawing::face);
    environment.add_function("meter", drawing::meter);
    environment.add_function("bars", drawing::bars);
    environment.add_function("curve", drawing::curve);
    environment.add_function("icon", kit::icon);
    environment.add_function("badge", kit::badge);
    environment.add_function("state", kit::state);
    environment.add_function("person", kit::person);
    environment.add_function("nonce", kit::nonce);
    environment.add_function("was", kit::was);
    environment.add_function("languages", || Language::all().iter().map(Language::code).collect::<Vec<_>>());
    environment
}

/// Renders a template in its network's turn.
pub(crate) fn render(
    turn: &Turn,
    language: &'static Language,
    name: &str,
    context: &serde_json::Value,
) -> Result<String, Error> {
    static ENVIRONMENTS: LazyLock<Vec<Environment<'static>>> =
        LazyLock::new(|| Language::all().iter().map(environment).collect());
    let context = Value::from_serialize(context);
    if folder().is_some() {
        let fresh = environment(language);
        return bounded(turn, &fresh.get_template(name)?, context);
    }
    let at = Language::all().iter().position(|it| it.code() == language.code()).unwrap_or(0);
    let environment = ENVIRONMENTS.get(at).ok_or_else(|| Error::from(ErrorKind::InvalidOperation))?;
    bounded(turn, &environment.get_template(name)?, context)
}

/// Renders a template whose text is bounded while it is made.
fn bounded(turn: &Turn, template: &Template<'_, '_>, context: Value) -> Result<String, Error> {
    let mut text = Text { turn, bytes: vec![] };
    template.render_captured_to(context, &mut text)?;
    String::from_utf8(text.bytes).map_err(|error| Error::from(ErrorKind::BadSerialization).with_source(error))
}

/// A text that refuses what goes beyond [`MOST_BYTES`] or its turn.
struct Text<'t> {
    turn: &'t Turn,
    bytes: Vec<u8>,
}

impl Write for Text<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn.bytes(bytes.len() as u64).map_err(io::Error::other)?;
        if self.bytes.len() + bytes.len() > MOST_BYTES {
            return Err(io::Error::other("the page is too large"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
