//! A real process that is stopped while it is busy.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::cli::Installation;
use crate::support::Backend;

const CLIENTS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);

/// Outcomes of a client's requests.
#[derive(Debug, Default)]
struct Seen {
    answered: usize,
    /// Failures that no client should see.
    failed: Vec<String>,
}

/// Sends one request after the other on one connection, as long as it is kept, in two packets. True while the hub still
/// listens.
async fn use_connection(address: SocketAddr, seen: &mut Seen) -> bool {
    const REQUEST: (&str, &str) = ("POST /api/version HTTP/1.1\r\nhost: hub\r\ncontent-length: 5\r\n\r\n", "hello");
    let mut stream = match TcpStream::connect(address).await {
        Ok(stream) => stream,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => return false,
        Err(error) => {
            seen.failed.push(format!("connect: {error}"));
            return true;
        }
    };
    let mut received = vec![];
    loop {
        let answer = async {
            stream.write_all(REQUEST.0.as_bytes()).await?;
            tokio::task::yield_now().await;
            stream.write_all(REQUEST.1.as_bytes()).await?;
            received.clear();
            while !received.ends_with(b"}") {
                if stream.read_buf(&mut received).await? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            }
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&received).to_lowercase())
        };
        match timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) if answer.starts_with("http/1.1 405 ") => {
                seen.answered += 1;
                if answer.contains("\r\nconnection: close\r\n") {
                    // A FIN, not a reset.
                    if let Err(error) = stream.read_buf(&mut received).await {
                        seen.failed.push(format!("end: {error}"));
                    }
                    return true;
                }
            }
            Ok(Ok(answer)) => seen.failed.push(answer),
            Ok(Err(error)) => {
                seen.failed.push(format!("request: {error}"));
                return true;
            }
            Err(_) => {
                seen.failed.push("no answer".to_owned());
                return true;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_is_not_seen_as_a_reset() {
    let installation = Installation::new(Backend::sqlite());
    let created = installation.json(&["admin", "network", "create", "demo-net", "--json"]);
    let mut hub = installation.serve();
    let address: SocketAddr = hub.url.strip_prefix("http://").unwrap().parse().unwrap();
    // A stream, a connection that idles, and one whose request is never finished.
    let mut stream = TcpStream::connect(address).await.unwrap();
    let key = created["apiKey"].as_str().unwrap();
    let request = format!("GET /api/plugin/events HTTP/1.1\r\nhost: hub\r\nx-service-api-key: {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut idle = TcpStream::connect(address).await.unwrap();
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"POST /api/version HTTP/1.1\r\nhost: h").await.unwrap();

    let mut clients = JoinSet::new();
    let (working, mut work) = tokio::sync::mpsc::channel(CLIENTS);
    for client in 0..CLIENTS {
        let working = working.clone();
        clients.spawn(async move {
            let mut seen = Seen::default();
            let mut is_listening = true;
            while is_listening {
                is_listening = use_connection(address, &mut seen).await;
                let _ = working.try_send(client);
            }
            seen
        });
    }
    // Some reconnect all the time.
    for _ in 0..8 {
        let working = working.clone();
        clients.spawn(async move {
            let mut seen = Seen::default();
            loop {
                match TcpStream::connect(address).await {
                    Ok(mut stream) => {
                        let request = b"GET /healthz HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n";
                        let mut answer = String::new();
                        let sent = stream.write_all(request).await;
                        match sent.and(stream.read_to_string(&mut answer).await) {
                            Ok(_) if answer.starts_with("HTTP/1.1 200") => seen.answered += 1,
                            other => seen.failed.push(format!("new connection: {other:?} {answer}")),
                        }
                        let _ = working.try_send(0);
                    }
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => return seen,
                    Err(error) => seen.failed.push(format!("connect: {error}")),
                }
            }
        });
    }
    // All are under way.
    for _ in 0..200 {
        work.recv().await.unwrap();
    }
    hub.signal("-TERM");

    let mut received = vec![];
    timeout(PATIENCE, stream.read_to_end(&mut received)).await.unwrap().expect("no reset of the stream");
    assert!(received.ends_with(b"\r\n0\r\n\r\n"), "the stream is cut off: {}", String::from_utf8_lossy(&received));
    for (what, connection) in [("idle", &mut idle), ("half a request", &mut half)] {
        let end = timeout(PATIENCE, connection.read_to_end(&mut vec![])).await;
        assert_eq!(end.unwrap().unwrap_or_else(|error| panic!("{what}: {error}")), 0);
    }
    let seen = timeout(PATIENCE, clients.join_all()).await.unwrap();
    let failed: Vec<_> = seen.iter().flat_map(|seen| &seen.failed).collect();
    assert!(
        failed.is_empty(),
        "{} of {}: {failed:?}",
        failed.len(),
        seen.iter().map(|seen| seen.answered).sum::<usize>()
    );
    assert!(seen.iter().all(|seen| seen.answered > 0));
    assert!(hub.child.wait().unwrap().success());
}
