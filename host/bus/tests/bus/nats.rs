//! A real NATS server, started and stopped by each test.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Nats {
    port: u16,
    folder: TempDir,
    server: Child,
}

impl Nats {
    pub(crate) async fn start() -> Self {
        Self::start_with("").await
    }

    /// With more in its configuration.
    pub(crate) async fn start_with(configuration: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("nats.conf"), configuration).unwrap();
        let server = run(port, &folder);
        let nats = Self { port, folder, server };
        nats.wait().await;
        nats
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it, and deletes its data if `and_delete_data`.
    pub(crate) fn kill(&mut self, and_delete_data: bool) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        if and_delete_data {
            let configuration = std::fs::read(self.folder.path().join("nats.conf")).unwrap();
            self.folder = TempDir::new().unwrap();
            std::fs::write(self.folder.path().join("nats.conf"), configuration).unwrap();
        }
    }

    pub(crate) async fn restart(&mut self) {
        self.server = run(self.port, &self.folder);
        self.wait().await;
    }

    async fn wait(&self) {
        for _ in 0..500 {
            if tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nats-server does not listen");
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn run(port: u16, folder: &TempDir) -> Child {
    Command::new("nats-server")
        .args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream", "--store_dir"])
        .arg(folder.path())
        .arg("--config")
        .arg(folder.path().join("nats.conf"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nats-server is installed (Debian's package nats-server)")
}
