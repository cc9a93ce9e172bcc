//! A TCP proxy in front of NATS whose connections can be cut, at once or in the middle of an answer.

use parking_lot::Mutex;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// State of the proxy's connections.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Open,
    /// Closed; new ones are refused.
    Cut,
    /// Reads this many bytes more from the server; then nothing arrives, and the connection stays open.
    Freeze(usize),
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    mode: watch::Sender<Mode>,
    left: Arc<Mutex<usize>>,
}

impl Proxy {
    pub(crate) async fn start(target: &str) -> Self {
        let target = target.trim_start_matches("nats://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let (mode, watched) = watch::channel(Mode::Open);
        let left = Arc::new(Mutex::new(0));
        tokio::spawn({
            let left = Arc::clone(&left);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(relay(client, target.clone(), watched.clone(), Arc::clone(&left)));
                }
            }
        });
        Self { url, mode, left }
    }

    /// Closes all connections and accepts no new ones.
    pub(crate) fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    /// Forwards everything again, on new connections.
    pub(crate) fn open(&self) {
        self.mode.send_replace(Mode::Open);
    }

    /// Forwards this many bytes from the server, on new connections; then nothing, as if the network were gone.
    pub(crate) fn freeze_after(&self, bytes: usize) {
        *self.left.lock() = bytes;
        self.mode.send_replace(Mode::Freeze(bytes));
    }

    /// True if a connection was frozen in the middle.
    pub(crate) fn is_frozen(&self) -> bool {
        *self.left.lock() == 0
    }
}

async fn relay(mut client: TcpStream, target: String, mut mode: watch::Receiver<Mode>, left: Arc<Mutex<usize>>) {
    let begun_in = *mode.borrow_and_update();
    if begun_in == Mode::Cut {
        return;
    }
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut from_server) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => match read {
                Ok(count) if count > 0 => if server.write_all(&from_client[..count]).await.is_err() { return },
                _ => return,
            },
            read = server.read(&mut from_server) => match read {
                Ok(count) if count > 0 => {
                    if let Mode::Freeze(_) = begun_in {
                        let mut left = left.lock();
                        *left = left.saturating_sub(count);
                        if *left == 0 {
                            break;
                        }
                    }
                    if client.write_all(&from_server[..count]).await.is_err() { return }
                }
                _ => return,
            },
            _ = mode.changed() => return,
        }
    }
    // Until the connection is dropped.
    while client.read(&mut from_client).await.is_ok_and(|count| count > 0) {}
}
