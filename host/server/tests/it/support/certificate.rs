//! TLS for tests.

use std::path::Path;
use std::process::Command;

/// Creates a certificate for `localhost` and its key in the folder; returns their paths.
pub fn certificate(folder: &Path) -> (String, String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let config = "[req]\ndistinguished_name = name\nx509_extensions = ext\nprompt = no\n[name]\nCN = localhost\n\
                  [ext]\nsubjectAltName = DNS:localhost\nbasicConstraints = critical,CA:FALSE\n";
    std::fs::write(path("config"), config).unwrap();
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-config", &path("config")])
        .args(["-keyout", &path("key.pem"), "-out", &path("certificate.pem")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (path("certificate.pem"), path("key.pem"))
}
