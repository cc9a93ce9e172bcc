//! A client's socket. A client that stops reading does not hold it forever, and its end is a FIN, never a reset.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_util::task::TaskTracker;

use super::activity::Activity;
use crate::http::connection::Connection;

/// Time a closed connection is still read, and the maximum pause in its data.
const LINGER: Duration = Duration::from_secs(10);
const LINGER_SILENCE: Duration = Duration::from_secs(1);
/// Bytes discarded without a rate limit.
const UNTHROTTLED: usize = 256 << 10;
/// Bytes discarded at a time. All lingering sockets take turns of a millisecond or two, so that together they do not
/// keep the hub busy.
const CHUNK: usize = 64 << 10;
const TURN: Duration = Duration::from_millis(1);
static TURNS: Mutex<()> = Mutex::const_new(());

/// A socket with a time limit on writes. After it is dropped, its client can still read the written bytes.
pub(super) struct Socket {
    stream: Option<TcpStream>,
    activity: Activity,
    write_timeout: Duration,
    /// Runs while a write waits for the client to read.
    stalled: Option<Pin<Box<Sleep>>>,
    /// True if the client has closed its side, or the connection is broken.
    is_over: bool,
    tasks: TaskTracker,
    /// Counted until the socket is closed.
    connection: Connection,
}

impl Socket {
    pub(super) fn new(
        stream: TcpStream,
        activity: Activity,
        write_timeout: Duration,
        tasks: TaskTracker,
        connection: Connection,
    ) -> Self {
        Self { stream: Some(stream), activity, write_timeout, stalled: None, is_over: false, tasks, connection }
    }

    fn poll_stream<R>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(Err(io::ErrorKind::NotConnected.into())) };
        let polled = poll(Pin::new(stream), context);
        self.is_over |= matches!(polled, Poll::Ready(Err(_)));
        polled
    }

    fn poll_written(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            self.activity.note_write();
            self.stalled = None;
            return polled;
        }
        let deadline = Instant::now() + self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        ready!(stalled.as_mut().poll(context));
        self.is_over = true;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = self.poll_stream(context, |stream, context| stream.poll_read(context, buffer));
        self.is_over |= matches!(polled, Poll::Ready(Ok(()))) && buffer.filled().len() == before;
        polled
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = self.poll_stream(context, |stream, context| stream.poll_write(context, bytes));
        self.poll_written(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = self.poll_stream(context, |stream, context| stream.poll_write_vectored(context, slices));
        self.poll_written(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_stream(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_stream(context, AsyncWrite::poll_shutdown)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let Some(stream) = self.stream.take().filter(|_| !self.is_over) else { return };
        if tokio::runtime::Handle::try_current().is_ok() {
            self.tasks.spawn(linger(stream, self.connection.clone()));
        }
    }
}

/// Closes a socket for writing, and reads until the client closes its side: the system would reset a connection that is
/// closed while data arrives, and the client might miss its last answer.
pub(super) async fn linger<T>(mut stream: TcpStream, _held: T) {
    let discarding = async {
        stream.shutdown().await?;
        let mut bytes = 0;
        while timeout(LINGER_SILENCE, stream.readable()).await.is_ok_and(|readable| readable.is_ok()) {
            let read = discard(&stream)?;
            if read == 0 {
                break;
            }
            bytes += read;
            if bytes > UNTHROTTLED {
                let _turn = TURNS.lock().await;
                sleep(TURN).await;
            }
        }
        Ok::<_, io::Error>(())
    };
    // After any failure the connection is over.
    let _ = timeout(LINGER, discarding).await;
}

/// Reads available bytes, up to a chunk. Zero: the client has closed its side.
fn discard(stream: &TcpStream) -> io::Result<usize> {
    let (mut buffer, mut bytes) = ([0; 8 << 10], 0);
    while bytes < CHUNK {
        match stream.try_read(&mut buffer) {
            Ok(0) => return Ok(0),
            Ok(read) => bytes += read,
            // Not the end, even if nothing was read.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(bytes.max(1)),
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::connection::Connections;
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;

    /// Both ends of a connection.
    async fn pair(write_timeout: Duration, tasks: &TaskTracker) -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, remote) = listener.accept().await.unwrap();
        let connection = Connections::new(1, 1, vec![]).open(remote.ip()).unwrap();
        let activity = Activity::new(LINGER, LINGER);
        (Socket::new(stream, activity, write_timeout, tasks.clone(), connection), client)
    }

    #[tokio::test]
    async fn sending_client_still_reads_the_answer() {
        let tasks = TaskTracker::new();
        let (mut socket, mut client) = pair(LINGER, &tasks).await;
        client.write_all(&[7; 1000]).await.unwrap();
        socket.write_all(b"no").await.unwrap();
        drop(socket);
        for _ in 0..500 {
            client.write_all(&[7; 10_000]).await.unwrap();
        }
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "no");
        drop(client);
        // It is gone as soon as the client is.
        tasks.close();
        timeout(LINGER_SILENCE, tasks.wait()).await.unwrap();
    }

    #[tokio::test]
    async fn client_that_does_not_read_is_disconnected() {
        let (mut socket, _client) = pair(Duration::from_millis(50), &TaskTracker::new()).await;
        let error = loop {
            if let Err(error) = socket.write_all(&[7; 10_000]).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
