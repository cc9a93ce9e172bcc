//! Tries forbidden operations of a confined child. For tests, and for operators who want to verify it on their machine.

use super::restrict::{restrict_objects, restrict_system_calls};
use serde_json::{Map, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;

/// Confines this process by both layers (`all`), one (`landlock`, `seccomp`) or `none`, and writes the possible
/// operations as JSON: `true`, or the error.
///
/// # Errors
/// It can't be confined, or the output is closed.
pub fn probe_main(layer: &str, mut stdout: impl Write) -> io::Result<()> {
    // Operations outside of one layer's reach are tried nevertheless.
    if matches!(layer, "landlock" | "all") {
        restrict_objects(None)?;
    }
    if matches!(layer, "seccomp" | "all") {
        restrict_system_calls()?;
    }
    let created = std::env::temp_dir().join(format!("hub-probe-{}", std::process::id()));
    let attempts: [(&str, io::Result<()>); 11] = [
        ("read a file", File::open("/etc/passwd").map(drop)),
        ("read its own program", File::open("/proc/self/exe").map(drop)),
        ("read its parent's memory", File::open(format!("/proc/{}/mem", parent())).map(drop)),
        ("list a folder", fs::read_dir("/").map(drop)),
        ("create a file", File::create(&created).map(drop)),
        ("connect by TCP", TcpStream::connect(("127.0.0.1", 9)).map(drop).or_else(was_refused_by_the_peer)),
        ("listen", TcpListener::bind(("127.0.0.1", 0)).map(drop)),
        ("open a UDP socket", UdpSocket::bind(("127.0.0.1", 0)).map(drop)),
        ("open a UNIX socket", UnixStream::pair().map(drop)),
        ("start a process", Command::new("/bin/true").status().map(drop)),
        ("start a thread", std::thread::Builder::new().spawn(|| ()).map(|thread| drop(thread.join()))),
    ];
    let _ = fs::remove_file(created);
    let result = |(what, result): (&str, io::Result<()>)| {
        (what.to_owned(), result.map_or_else(|error| json!(error.to_string()), |()| json!(true)))
    };
    let results: Map<_, _> = attempts.into_iter().map(result).collect();
    serde_json::to_writer(&mut stdout, &results)?;
    stdout.flush()
}

fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// No process listens there: a refusal by the peer shows that the network was reached.
fn was_refused_by_the_peer(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::ConnectionRefused { Ok(()) } else { Err(error) }
}
