//! A link that can be cut as networks are: connections stay, nothing comes through, and what was sent arrives when it heals.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

pub(crate) struct TcpProxy {
    pub(crate) url: String,
    is_cut: watch::Sender<bool>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
    answers: Answers,
}

/// All bytes that the hub has sent.
type Answers = Arc<Mutex<Vec<u8>>>;

impl TcpProxy {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let is_cut = watch::Sender::new(false);
        let (connections, answers) = (Arc::new(Mutex::new(Vec::new())), Answers::default());
        let (link, all, seen) = (is_cut.subscribe(), Arc::clone(&connections), Arc::clone(&answers));
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let task = tokio::spawn(serve(near, target, link.clone(), Arc::clone(&seen)));
                all.lock().push(task.abort_handle());
            }
        });
        Self { url, is_cut, connections, answers }
    }

    pub(crate) fn answers(&self) -> String {
        String::from_utf8_lossy(&self.answers.lock()).into_owned()
    }

    pub(crate) fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    pub(crate) fn heal(&self) {
        self.is_cut.send_replace(false);
    }

    /// Ends all connections, as a router does that restarts.
    pub(crate) fn drop_connections(&self) {
        for connection in self.connections.lock().drain(..) {
            connection.abort();
        }
    }
}

async fn pass(link: &mut watch::Receiver<bool>) -> Option<()> {
    link.wait_for(|is_cut| !is_cut).await.ok().map(|_| ())
}

async fn serve(near: TcpStream, target: u16, mut link: watch::Receiver<bool>, answers: Answers) {
    if pass(&mut link).await.is_none() {
        return;
    }
    let Ok(far) = TcpStream::connect(("127.0.0.1", target)).await else { return };
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    tokio::join!(copy(near_in, far_out, link.clone(), Answers::default()), copy(far_in, near_out, link, answers));
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut link: watch::Receiver<bool>,
    seen: Answers,
) -> Option<()> {
    let mut bytes = [0; 8_192];
    loop {
        let length = from.read(&mut bytes).await.ok()?;
        seen.lock().extend_from_slice(&bytes[..length]);
        pass(&mut link).await?;
        if length == 0 {
            return to.shutdown().await.ok();
        }
        to.write_all(&bytes[..length]).await.ok()?;
    }
}
