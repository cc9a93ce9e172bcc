use super::*;

#[test]
fn links_begin_where_the_hub_is_reached() {
    let mut settings = Settings { listen: ([0, 0, 0, 0], 8080).into(), ..Settings::default() };
    assert_eq!(settings.url("/x"), "http://localhost:8080/x");
    settings.listen = ([10, 0, 0, 7], 80).into();
    assert_eq!(settings.url("/x"), "http://10.0.0.7:80/x");
    let args = ServeArgs { public_url: Some("https://hub.example/base/".to_owned()), ..ServeArgs::default() };
    assert_eq!(Settings::of_serve(&args).unwrap().url("/x"), "https://hub.example/base/x");
    let proxies = |text: &str| {
        let list = text.split(',').map(str::to_owned).collect();
        Settings::of_serve(&ServeArgs { trusted_proxies: Some(list), ..ServeArgs::default() })
    };
    assert_eq!(proxies("10.0.0.0/8,::1").unwrap().trusted_proxies.len(), 2);
    assert!(proxies("localhost").is_err());
    for bad in ["hub.example", "ftp://hub.example", "https://", "javascript:alert(1)"] {
        let args = ServeArgs { public_url: Some(bad.to_owned()), ..ServeArgs::default() };
        assert!(Settings::of_serve(&args).is_err(), "{bad}");
    }
}
