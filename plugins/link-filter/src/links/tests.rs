use super::*;
use network_hub_module::{config, testing};

/// The hosts of the links found.
fn hosts(message: &str) -> Vec<String> {
    find(&Config::default(), message).into_iter().map(|link| link.host).collect()
}

/// The links as they are in the message.
fn link_texts(message: &str) -> Vec<&str> {
    find(&Config::default(), message).into_iter().map(|link| &message[link.bytes]).collect()
}

#[test]
fn links_are_found_in_all_their_forms() {
    for (message, host) in [
        ("join Example.com now", "example.com"),
        ("http://example.museum", "example.museum"),
        ("see https://play.example.net:25565/join?x=1.", "play.example.net"),
        ("www.example.museum", "example.museum"),
        ("t.me/example", "t.me"),
        ("play.example.zz:19132", "play.example.zz"),
        ("example[dot]com", "example.com"),
        ("example (dot) xyz", "example.xyz"),
        ("example dot com", "example.com"),
        ("example . com", "example.com"),
        ("example .xyz", "example.xyz"),
        ("&aex§lample&r.&bcom", "example.com"),
        ("ｅｘａｍｐｌｅ．ｃｏｍ", "example.com"),
        ("exam\u{200b}ple.com", "example.com"),
        ("discord.gg/abc", "discord.gg"),
        ("join .gg/abc", "join.gg"),
        (".gg/abc", "discord.gg"),
        ("example.com.it is great", "example.com"),
        ("me@example.museum", "example.museum"),
        ("https://example.net@evil.zz/x", "evil.zz"),
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:25565", "203.0.113.7"),
        ("203 . 0 . 113 . 7", "203.0.113.7"),
        ("ünïcode.com", "ünïcode.com"),
    ] {
        assert_eq!(hosts(message), [host], "{message}");
    }
}

#[test]
fn similar_texts_are_no_links() {
    for message in [
        "hello. come here",
        "1.20.4",
        "it was 12.05.2024, 3.50 each",
        "v1.2.3.4 of the plugin",
        "1.2.3.4.5",
        "256.1.1.300",
        "no.is that so",
        "what...com",
        "config.yml",
        "polkadot com",
        "gg/wp",
        "either/or",
        "it works . so there",
        "connect the dot computer",
        "...",
        "a.b",
        "&a&l.&r",
        ".gg",
        "",
    ] {
        assert_eq!(hosts(message), [""; 0], "{message}");
    }
}

#[test]
fn a_link_includes_its_scheme_and_path() {
    assert_eq!(link_texts("go https://example.com/a?b#c now"), ["https://example.com/a?b#c"]);
    assert_eq!(link_texts("a.com, b.net and &cc [dot] org!"), ["a.com", "b.net", "c [dot] org"]);
    assert_eq!(link_texts("203.0.113.7:25565 x"), ["203.0.113.7:25565"]);
}

#[test]
fn endings_can_be_configured() {
    let config: Config = config(&testing::context(r#"{"endings": ["zz"]}"#));
    assert!(find(&config, "example.com").is_empty());
    assert_eq!(find(&config, "example.zz").len(), 1);
}

#[test]
fn addresses_can_be_allowed() {
    let config = Config { addresses: false, ..Config::default() };
    assert!(find(&config, "203.0.113.7").is_empty());
}

#[test]
fn an_allowed_domain_includes_its_subdomains_only() {
    let config: Config =
        config(&testing::context(r#"{"allow": ["https://www.Example.net/", "discord.gg/ours", "203.0.113.7"]}"#));
    for (message, allowed) in [
        ("example.net", true),
        ("shop.example.net/x", true),
        ("EXAMPLE [dot] net", true),
        ("notexample.net", false),
        ("example.net.com", false),
        ("https://example.net@evil.com", false),
        ("discord.gg/ours", true),
        ("discord.gg/ours?event=1", true),
        ("discord.gg/ourselves", false),
        ("discord.gg/other", false),
        (".gg/ours", true),
        ("203.0.113.7:25565", true),
        ("203.0.113.8", false),
    ] {
        let links = find(&config, message);
        assert!(!links.is_empty(), "{message}");
        assert_eq!(links.iter().all(|link| link.is_allowed(&config)), allowed, "{message}: {links:?}");
    }
}

#[test]
fn the_longest_line_and_a_large_list_are_fast() {
    let config = Config { allow: vec!["example.org".into(); 5000], ..Config::default() };
    let links = find(&config, &"a.gg ".repeat(204));
    assert_eq!(links.len(), 204);
    assert!(find(&config, &".".repeat(1024)).is_empty());
    assert!(find(&config, &"a.".repeat(512)).is_empty());
    assert!(find(&config, &" ".repeat(1024)).is_empty());
}
