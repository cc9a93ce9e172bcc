//! Events as messages in Discord.

use serde_json::{Value, json};

use crate::budget::Budget;
use crate::webhooks::model::Templates;
use crate::webhooks::template::{Embed, Template, fill, length};

/// Discord's own limits.
const CONTENT: usize = 2_000;
const TITLE: usize = 256;
const DESCRIPTION: usize = 4_096;
const FIELD_NAME: usize = 256;
const FIELD_VALUE: usize = 1_024;
/// Total of all embeds of a message.
const EMBEDS: usize = 6_000;

/// Default messages of webhooks without templates.
const DEFAULTS: &[(&str, &str)] = &[
    ("APPEAL_CREATED", "Appeal of punishment {appeal.punishmentId}: {appeal.text}"),
    ("BALANCE_CHANGED", "{currencyName} of {ownerKey}: {applied}, now {balance}"),
    ("CHAT", "**{playerName}** ({serverId}): {message}"),
    ("CHAT_VERDICT", "{verdict}: **{playerName}** ({serverId}): {message}"),
    ("CONFIG_UPDATED", "Config {group}/{namespace} was changed"),
    ("DELIVERY_READY", "Delivery {deliveryId} ({kind}) can be claimed"),
    ("DELIVERY_SETTLED", "Delivery {delivery.deliveryId} ({delivery.kind}) is {delivery.state}"),
    ("LOCALIZATION_UPDATED", "The texts were changed, version {version}"),
    ("MODULE_DEAD_LETTER", "The module **{module}** could not handle {eventType} ({code}): dead letter {deadLetterId}"),
    ("MODULE_EVENT", "{module}: {name}"),
    ("MODULE_LAGGING", "The module **{module}** is behind: {lagEvents} events wait"),
    ("PERMISSIONS_UPDATED", "Permissions were changed: {playerUuid}{groupId}"),
    ("PLAYER_JOINED", "**{playerName}** joined {serverId}"),
    ("PLAYER_LEFT", "**{playerName}** left {previousServerId}"),
    ("PLAYER_SWITCHED", "**{playerName}** went from {previousServerId} to {serverId}"),
    (
        "PUNISHMENT",
        "{punishment.type} {action}: **{punishment.playerName}** by {punishment.issuerName}. {punishment.reason}",
    ),
    ("REPORT_CREATED", "Report {report.reportId} about {report.playerUuid}: {report.reason}"),
    ("SERVER_OFFLINE", "Server **{server.serverId}** is offline"),
    ("SERVER_ONLINE", "Server **{server.serverId}** is online"),
    ("SESSION_ENDED", "The session {fence} of {playerUuid} was ended"),
    ("TEST", "This is a test of the webhook {webhookId}."),
    ("TICKET_MATCHED", "Ticket {ticketId} was matched: {match.matchedServer.serverId}"),
    ("WORLD_READY", "World {worldInstanceId} is ready on {server.serverId}"),
    ("WORLD_STATE", "World {worldInstanceId}: {state}"),
];

/// Discord message for an event. It pings no one.
pub(super) fn message(turn: &Budget, templates: &Templates, name: &str, event: &Value) -> Value {
    let default = || DEFAULTS.iter().find(|(of, _)| *of == name).map_or("{type}", |(_, text)| text);
    let template = templates.get(name).cloned().unwrap_or_else(|| Template::text(default()));
    let mut message = json!({"allowed_mentions": {"parse": []}});
    let content = template.content.map(|text| fill(turn, &text, event, CONTENT)).filter(|text| !is_blank(text));
    let mut left = EMBEDS;
    let embeds: Vec<_> =
        template.embeds.iter().filter_map(|template| embed(turn, template, event, &mut left)).collect();
    // Discord refuses an empty message, which placeholders without a value may produce.
    let content = content.or_else(|| embeds.is_empty().then(|| name.to_owned()));
    if let Some(content) = content {
        message["content"] = content.into();
    }
    if !embeds.is_empty() {
        message["embeds"] = embeds.into();
    }
    message
}

/// An embed without its blank parts, which Discord refuses; none if nothing is left of it but a color.
fn embed(turn: &Budget, template: &Embed, event: &Value, left: &mut usize) -> Option<Value> {
    let mut text = |text: &str, most: usize| {
        let filled = fill(turn, text, event, most.min(*left));
        *left -= length(&filled);
        (!is_blank(&filled)).then_some(filled)
    };
    let title = template.title.as_ref().and_then(|title| text(title, TITLE));
    let description = template.description.as_ref().and_then(|description| text(description, DESCRIPTION));
    let fields = template.fields.iter().filter_map(|field| {
        let (name, value) = (text(&field.name, FIELD_NAME), text(&field.value, FIELD_VALUE));
        Some(json!({"name": name?, "value": value?, "inline": field.inline}))
    });
    let fields: Vec<_> = fields.collect();
    if title.is_none() && description.is_none() && fields.is_empty() {
        return None;
    }
    let mut embed = json!({});
    let parts = [
        ("title", title.map(Value::from)),
        ("description", description.map(Value::from)),
        ("color", template.color.map(Value::from)),
        ("fields", (!fields.is_empty()).then(|| fields.into())),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            embed[name] = part;
        }
    }
    Some(embed)
}

/// True if Discord takes a text for an empty one, which characters without a width are as well.
fn is_blank(text: &str) -> bool {
    let is_invisible = |it: char| matches!(it, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    text.chars().all(|it| it.is_whitespace() || it.is_control() || is_invisible(it))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;
    use crate::budget::Allowance;
    use crate::events::EventKind;
    use crate::webhooks::template::Field;

    fn turn() -> Budget {
        let time = std::time::Duration::from_secs(600);
        Budget::begin_on_thread(Allowance { bytes: 1 << 20, steps: 0, memory: 0, time })
    }

    #[test]
    fn every_event_has_a_message() {
        for kind in EventKind::VARIANTS.iter().filter(|kind| kind.is_subscribable()) {
            let (_, text) = DEFAULTS.iter().find(|(name, _)| *name == kind.name()).unwrap();
            Template::text(text).check().unwrap();
        }
    }

    #[test]
    fn messages_fit_and_ping_no_one() {
        let event = json!({"playerName": "Alex", "serverId": "lobby", "message": "@everyone ".repeat(400)});
        let sent = message(&turn(), &Templates::new(), "CHAT", &event);
        assert_eq!(sent["allowed_mentions"], json!({"parse": []}));
        let content = sent["content"].as_str().unwrap();
        assert!(content.starts_with("**Alex** (lobby): \\@everyone") && content.ends_with('…'));
        assert!(length(content) >= 1_999, "an escape is not cut in two");
        assert!(sent.get("embeds").is_none());
    }

    #[test]
    fn embeds_fit_together() {
        let event = json!({"long": "x".repeat(5_000), "empty": ""});
        let text = || Some("{long}".to_owned());
        let field = |value: &str| Field { name: "n".to_owned(), value: value.to_owned(), inline: true };
        let embed = Embed {
            title: text(),
            description: text(),
            color: Some(5),
            fields: vec![field("{long}"), field("{empty}")],
        };
        let templates = Templates::from([("CHAT".to_owned(), Template { content: None, embeds: vec![embed; 3] })]);
        let sent = message(&turn(), &templates, "CHAT", &event);
        assert!(sent.get("content").is_none());
        let embeds = sent["embeds"].as_array().unwrap();
        assert_eq!((length(embeds[0]["title"].as_str().unwrap()), embeds[0]["color"].clone()), (256, json!(5)));
        assert_eq!(length(embeds[0]["description"].as_str().unwrap()), 4_096);
        assert_eq!(embeds[0]["fields"].as_array().unwrap().len(), 1, "an empty one is left out");
        let mut all = 0;
        for embed in embeds {
            let texts = ["title", "description"].into_iter().map(|name| embed[name].as_str().unwrap_or_default());
            let fields = embed["fields"].as_array().into_iter().flatten();
            let fields = fields.flat_map(|field| ["name", "value"].map(|name| field[name].as_str().unwrap()));
            all += texts.chain(fields).map(length).sum::<usize>();
        }
        assert!((5_900..=6_000).contains(&all), "{all}");
        let nothing = Templates::from([("CHAT".to_owned(), Template::text("{empty}"))]);
        assert_eq!(message(&turn(), &nothing, "CHAT", &event)["content"], "CHAT");
        let blank = || Some("{empty} \u{200b}".to_owned());
        let embed = Embed { title: blank(), description: blank(), color: Some(5), fields: vec![field("{empty}")] };
        let blank = Templates::from([("CHAT".to_owned(), Template { content: blank(), embeds: vec![embed; 3] })]);
        let sent = message(&turn(), &blank, "CHAT", &event);
        assert_eq!((&sent["content"], sent.get("embeds")), (&json!("CHAT"), None), "Discord refuses empty embeds");
    }
}
