//! A real NATS server, started and stopped by each test.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

use crate::ports::free_port;

pub(crate) struct Nats {
    port: u16,
    folder: TempDir,
    server: Child,
}

impl Nats {
    pub(crate) async fn start() -> Self {
        Self::start_with("").await
    }

    /// Starts with additional configuration.
    pub(crate) async fn start_with(configuration: &str) -> Self {
        let port = free_port();
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

    /// A copy of its data on the disk, which a killed server reads back.
    pub(crate) fn save(&mut self) -> TempDir {
        self.kill(false);
        let copy = TempDir::new().unwrap();
        copy_folder(self.folder.path(), copy.path());
        copy
    }

    /// Kills it and replaces its data, like after a power cut.
    pub(crate) fn restore(&mut self, data: TempDir) {
        self.kill(false);
        self.folder = data;
    }

    /// Listens on another port from its next start on; returns the previous one.
    pub(crate) fn change_port(&mut self, port: u16) -> u16 {
        std::mem::replace(&mut self.port, port)
    }

    pub(crate) async fn restart(&mut self) {
        self.server = run(self.port, &self.folder);
        self.wait().await;
    }

    pub(crate) async fn restart_without_jetstream(&mut self) {
        self.server = command(self.port).spawn().expect("nats-server is installed (Debian's package nats-server)");
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

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn run(port: u16, folder: &TempDir) -> Child {
    command(port)
        .args(["--jetstream", "--store_dir"])
        .arg(folder.path())
        .arg("--config")
        .arg(folder.path().join("nats.conf"))
        .spawn()
        .expect("nats-server is installed (Debian's package nats-server)")
}

fn command(port: u16) -> Command {
    let mut command = Command::new("nats-server");
    command.args(["--addr", "127.0.0.1", "--port", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
