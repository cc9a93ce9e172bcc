//! Manifests of modules.

use super::*;
use serde_json::{Value, json};

/// The example of the documentation.
fn example() -> Value {
    json!({"manifest": 1, "contract": "1.1.0", "name": "tebex-shop", "description": "Ranks and kits from the shop",
        "events": {"types": ["FIRST_JOIN", "DELIVERY_SETTLED", "MODULE_EVENT"], "order": "PLAYER", "own": false},
        "endpoints": [
            {"name": "purchase", "method": "POST", "path": "purchase", "public": true, "headers": ["x-signature"],
                "ratePerMinute": 120, "signature": {"kind": "HMAC_SHA256", "secret": "TEBEX", "header": "x-signature",
                "encoding": "HEX", "prefix": ""}, "dedupe": {"json": "/id"},
                "request": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "maxLength": 64}}},
                "response": {"type": "object", "properties": {"ok": {"type": "boolean"}}}},
            {"name": "history", "method": "GET", "path": "players/{uuid}/history", "public": false}],
        "schedules": [{"name": "nightly", "cron": "0 3 * * *", "catchUp": "ONCE"}], "timers": true,
        "hosts": ["discord.com"], "secrets": ["TEBEX", "DISCORD_TOKEN"],
        "scopes": ["events:read", "deliveries:manage", "deliveries:write", "economy:write", "permissions:write"],
        "permissionNodes": ["rank.*"], "commands": [],
        "config": {"type": "object", "required": ["kit"], "properties": {"kit": {"type": "string", "title": "Kit", "maxLength": 64}}}})
}

fn parse(manifest: &Value) -> Result<Manifest, Invalid> {
    Manifest::parse(manifest.to_string().as_bytes())
}

/// The example with a value at a pointer replaced.
fn refused(pointer: &str, value: Value) -> Invalid {
    let mut manifest = example();
    *manifest.pointer_mut(pointer).unwrap() = value;
    parse(&manifest).unwrap_err()
}

#[test]
fn the_example_reads_back_from_its_json() {
    let manifest = parse(&example()).unwrap();
    let events = manifest.events.clone().unwrap();
    assert_eq!((events.types.len(), events.order, events.own), (3, Order::Player, false));
    assert_eq!(manifest.endpoints[1].path, "players/{uuid}/history");
    assert_eq!(manifest.schedules[0].cron.to_string(), "0 3 * * *");
    assert_eq!(parse(&json!(manifest)), Ok(manifest));
}

#[test]
fn a_signature_may_be_that_of_the_bodys_digest() {
    let signed = |of: Value| {
        let mut manifest = example();
        manifest["endpoints"][0]["signature"]["of"] = of;
        let read = parse(&manifest)?;
        assert_eq!(parse(&json!(read)).as_ref(), Ok(&read));
        Ok::<_, Invalid>(json!(read)["endpoints"][0]["signature"]["of"].clone())
    };
    assert_eq!(signed(json!("BODY_SHA256")), Ok(json!("BODY_SHA256")));
    assert_eq!(signed(json!("BODY")), Ok(Value::Null), "it is what was signed before");
    assert_eq!(signed(json!("BODY_MD5")).map_err(|invalid| invalid.pointer), Err("/endpoints/0/signature".into()));
}

#[test]
fn the_smallest_manifest_has_a_version() {
    assert!(parse(&json!({"manifest": 1, "of a later hub": true})).is_ok());
    assert_eq!(parse(&json!({})).unwrap_err().reason.split(" at ").next(), Some("missing field `manifest`"));
    assert_eq!(parse(&json!({"manifest": 2})).unwrap_err().pointer, "/manifest");
    let long = json!({"manifest": 1, "later": "x".repeat(64 << 10)});
    assert!(parse(&long).unwrap_err().reason.contains("more than 65536"));
    assert!(Manifest::parse(b"{").is_err() && Manifest::parse(b"{\"manifest\": 1} {}").is_err());
}

#[test]
fn an_invalid_part_is_named_by_its_pointer() {
    for (pointer, value) in [
        ("/name", json!("Shop")),
        ("/events/types", json!([])),
        ("/events/types/1", json!("TRANSFER")),
        ("/events/types/1", json!("FIRST_JOIN")),
        ("/events/types/2", json!("join")),
        ("/events/order", json!("WORLD")),
        ("/endpoints/0/method", json!("FETCH")),
        ("/endpoints/0/path", json!("a//b")),
        ("/endpoints/0/path", json!("../b")),
        ("/endpoints/1/path", json!("{a}/{a}")),
        ("/endpoints/1/name", json!("purchase")),
        ("/endpoints/0/ratePerMinute", json!(601)),
        ("/endpoints/0/headers/0", json!("cookie")),
        ("/endpoints/0/signature/secret", json!("OTHER")),
        ("/endpoints/0/dedupe/json", json!("id")),
        ("/schedules/0/cron", json!("0 0 30 2 *")),
        ("/hosts/0", json!("10.0.0.1")),
        ("/hosts/0", json!("*.discord.com")),
        ("/secrets/1", json!("TEBEX")),
        ("/permissionNodes/0", json!("*")),
        ("/scopes/0", json!("Events")),
    ] {
        assert_eq!(refused(pointer, value.clone()).pointer, pointer, "{value}");
    }
    let same =
        json!([{"name": "a", "method": "GET", "path": "x/{one}"}, {"name": "b", "method": "GET", "path": "x/{two}"}]);
    assert_eq!(refused("/endpoints", same).pointer, "/endpoints/1/path");
}

#[test]
fn unsupported_schemas_are_refused() {
    for schema in [
        json!({"type": "text"}),
        json!({"pattern": "a*"}),
        json!({"$ref": "#/x"}),
        json!({"properties": {"a": {"minLength": -1}}}),
        json!({"description": "x".repeat(17_000)}),
        (0..9).fold(json!({}), |inner, _| json!({"items": inner})),
    ] {
        assert!(Schema::new(schema.clone()).is_err(), "{schema}");
        assert_eq!(refused("/config", schema).pointer, "/config");
    }
    let error = Schema::new(json!({"properties": {"a/b": {"pattern": "x"}}})).unwrap_err();
    assert_eq!(error.pointer, "/properties/a~1b/pattern");
}

#[test]
fn a_configuration_is_checked_against_its_schema() {
    let schema = json!({"type": "object", "required": ["kit"], "additionalProperties": false, "properties": {
        "kit": {"type": "string", "minLength": 1, "maxLength": 4}, "amount": {"type": "integer", "minimum": 1, "maximum": 10},
        "days": {"type": "array", "maxItems": 2, "items": {"enum": ["MON", "TUE"]}}, "on": {"type": ["boolean", "null"]}}});
    let schema = Schema::new(schema).unwrap();
    for fine in [json!({"kit": "a"}), json!({"kit": "abcd", "amount": 10.0, "days": ["MON"], "on": null})] {
        assert_eq!(schema.check(&fine), Ok(()), "{fine}");
    }
    for (value, pointer) in [
        (json!([]), ""),
        (json!({}), "/kit"),
        (json!({"kit": ""}), "/kit"),
        (json!({"kit": "abcde"}), "/kit"),
        (json!({"kit": "a", "amount": 1.5}), "/amount"),
        (json!({"kit": "a", "amount": 11}), "/amount"),
        (json!({"kit": "a", "days": ["MON", "SUN"]}), "/days/1"),
        (json!({"kit": "a", "days": ["MON", "MON", "MON"]}), "/days"),
        (json!({"kit": "a", "on": 1}), "/on"),
        (json!({"kit": "a", "other": 1}), "/other"),
    ] {
        assert_eq!(schema.check(&value).unwrap_err().pointer, pointer, "{value}");
    }
    let manifest = parse(&example()).unwrap();
    assert_eq!(manifest.check_config("{}").unwrap_err().to_string(), "`/kit`: is missing");
    assert_eq!(manifest.check_config(r#"{"kit": "starter"}"#), Ok(()));
}

#[test]
fn a_section_is_read_from_the_outermost_module_alone() {
    let module = b"\0asm\x01\0\0\0".to_vec();
    assert_eq!(read(&module), Ok(None));
    let text = example().to_string();
    let with = embed(module, text.as_bytes());
    assert_eq!(read(&with), Ok(Some(text.as_bytes())));
    let twice = embed(with, b"{}");
    assert!(read(&twice).unwrap_err().reason.contains("two"));
    let large = embed(b"\0asm\x0d\0\x01\0".to_vec(), &vec![b' '; MAX_MANIFEST_BYTES + 1]);
    assert!(read(&large).is_err());
}

#[test]
fn grants_that_are_missing_are_listed() {
    let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let needed = Grants {
        scopes: list(&["events:read", "economy:write"]),
        permission_nodes: list(&["rank.vip", "rank.*", "kit.a"]),
        commands: list(&["say"]),
        ..Grants::default()
    };
    let granted = Grants {
        scopes: list(&["events:read"]),
        permission_nodes: list(&["rank.*"]),
        commands: list(&["*"]),
        ..Grants::default()
    };
    let missing = needed.missing_in(&granted).unwrap();
    let expected = Grants { scopes: list(&["economy:write"]), permission_nodes: list(&["kit.a"]), ..Grants::default() };
    assert_eq!(missing, expected);
    assert_eq!(needed.missing_in(&needed), None);
    assert!(granted.permits_node("rank.vip") && !granted.permits_node("rank.") && !granted.permits_node("rankvip"));
    assert!(granted.permits_command("/op me"));
    let say = Grants { commands: list(&["say"]), ..Grants::default() };
    assert!(say.permits_command(" /say op") && !say.permits_command("op say"));
}

/// Bodies of requests come from strangers, and schemas from modules: their sizes multiply.
#[test]
fn a_check_compares_no_more_than_so_often() {
    let many = |count: usize| Value::from((0..count).collect::<Vec<_>>());
    let repeated = |value: Value, count: usize| Value::from(vec![value; count]);
    for (items, item) in [
        (json!({"enum": many(3_000)}), json!(2_999)),
        (json!({"type": repeated(json!("null"), 2_000)}), json!(null)),
        (json!({"required": repeated(json!("a"), 3_000)}), json!({"a": 0})),
    ] {
        let schema = Schema::new(json!({"type": "object", "properties": {"all": {"items": items}}})).unwrap();
        let check = |count| schema.check(&json!({"all": repeated(item.clone(), count)}));
        assert_eq!(check(50), Ok(()), "{item}");
        let refused = check(5_000).unwrap_err();
        assert!(refused.pointer.starts_with("/all/") && refused.reason.contains("comparisons"), "{refused}");
    }
}
