//! A fleet's own PostgreSQL, which can be restarted, and a network namespace for one node, which can be disconnected from
//! the database, from the bus or from the other nodes: packets are dropped silently.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// A node's network links.
#[derive(Clone, Copy)]
pub enum Link {
    Database,
    Bus,
    Http,
}

/// A network namespace with one virtual cable per link.
pub struct NetworkNamespace {
    name: String,
    subnet: String,
}

impl NetworkNamespace {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let id = std::process::id() << 3 | COUNT.fetch_add(1, Ordering::Relaxed) & 7;
        let namespace = Self { name: format!("hub{id}"), subnet: format!("10.{}.{}", 64 + (id >> 8) % 64, id % 256) };
        let (name, inside) = (&namespace.name, format!("-n {}", namespace.name));
        ip(&format!("netns add {name}"));
        ip(&format!("{inside} link set lo up"));
        for link in [Link::Database, Link::Bus, Link::Http] {
            let [host_end, inner_end] = namespace.ends(link);
            ip(&format!("link add {host_end} type veth peer name {inner_end} netns {name}"));
            ip(&format!("addr add {}/30 dev {host_end}", namespace.host_address(link)));
            ip(&format!("link set {host_end} up"));
            ip(&format!("{inside} addr add {}/30 dev {inner_end}", namespace.namespace_address(link)));
            ip(&format!("{inside} link set {inner_end} up"));
        }
        let [http, _] = namespace.ends(Link::Http);
        ip(&format!("addr add {}/32 dev {http}", namespace.second_address()));
        namespace.connect_to_second();
        namespace
    }

    fn ends(&self, link: Link) -> [String; 2] {
        [format!("{}h{}", self.name, link as u8), format!("{}n{}", self.name, link as u8)]
    }

    /// The address at the host's end of a link.
    pub fn host_address(&self, link: Link) -> String {
        format!("{}.{}", self.subnet, 4 * link as u8 + 1)
    }

    /// The address inside the namespace.
    pub fn namespace_address(&self, link: Link) -> String {
        format!("{}.{}", self.subnet, 4 * link as u8 + 2)
    }

    /// Another address of the host, at the end of the HTTP link.
    pub fn second_address(&self) -> String {
        format!("{}.17", self.subnet)
    }

    /// Drops packets sent from inside the namespace to the host's second address alone.
    pub fn disconnect_from_second(&self) {
        ip(&format!("-n {} route replace blackhole {}/32", self.name, self.second_address()));
    }

    pub fn connect_to_second(&self) {
        let _ = Command::new("ip").args(["-n", &self.name, "route", "del", &self.second_address()]).output();
        let via = self.host_address(Link::Http);
        ip(&format!("-n {} route add {}/32 via {via}", self.name, self.second_address()));
    }

    /// Runs a program inside the namespace.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]);
        command
    }

    /// Makes both ends send to an unassigned hardware address.
    pub fn disconnect(&self, link: Link) {
        let nobody = "lladdr 02:00:00:00:00:99 nud permanent";
        let [host_end, inner_end] = self.ends(link);
        ip(&format!("neigh replace {} dev {host_end} {nobody}", self.namespace_address(link)));
        ip(&format!("-n {} neigh replace {} dev {inner_end} {nobody}", self.name, self.host_address(link)));
    }

    pub fn reconnect(&self, link: Link) {
        let [host_end, inner_end] = self.ends(link);
        ip(&format!("neigh del {} dev {host_end}", self.namespace_address(link)));
        ip(&format!("-n {} neigh del {} dev {inner_end}", self.name, self.host_address(link)));
    }
}

impl Drop for NetworkNamespace {
    fn drop(&mut self) {
        // Deleting the namespace deletes its cables too, but not at once.
        for link in [Link::Database, Link::Bus, Link::Http] {
            let _ = Command::new("ip").args(["link", "del", &self.ends(link)[0]]).status();
        }
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status();
    let status = status.expect("ip is installed (Debian's package iproute2)");
    assert!(status.success(), "`ip {arguments}` failed; network namespaces need root (CAP_NET_ADMIN)");
}

/// A PostgreSQL that ends with the test.
pub struct Postgres {
    pub url: String,
    programs: PathBuf,
    options: String,
    /// Variables of the server.
    environment: Vec<(&'static str, String)>,
    folder: PathBuf,
    /// Deleted with it.
    own_folder: Option<TempDir>,
}

impl Postgres {
    pub fn start(host: &str, port: u16, environment: Vec<(&'static str, String)>) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let mut postgres = Self::start_in(folder.path(), host, port, environment);
        postgres.own_folder = Some(folder);
        postgres
    }

    /// Starts it in a world-writable folder.
    pub fn start_in(folder: &Path, host: &str, port: u16, environment: Vec<(&'static str, String)>) -> Self {
        let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed (Debian's postgresql)");
        let programs = versions.map(|version| version.unwrap().path().join("bin")).max().unwrap();
        // Only the process is killed, so acknowledged writes survive without fsync.
        let options = format!(
            "-p {port} -c listen_addresses={host} -c unix_socket_directories= -c fsync=off -c max_connections=200"
        );
        let url = format!("postgres://postgres@{host}:{port}/postgres");
        let postgres = Self { url, programs, options, environment, folder: folder.to_owned(), own_folder: None };
        postgres.run("initdb", &["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
        let hba = postgres.data().join("pg_hba.conf");
        let mut rules = std::fs::read_to_string(&hba).unwrap();
        rules.push_str("host all all 10.0.0.0/8 trust\n");
        std::fs::write(hba, rules).unwrap();
        postgres.start_server();
        postgres
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn start_server(&self) {
        assert!(self.try_start_server(), "PostgreSQL does not start");
    }

    /// True if it runs now.
    pub fn try_start_server(&self) -> bool {
        let log = self.folder.join("log");
        let start = ["-w", "-l", log.to_str().unwrap(), "-o", self.options.as_str(), "start"];
        let succeeds = |arguments: &[&str]| {
            let mut command = self.command("pg_ctl", arguments);
            command.envs(self.environment.iter().map(|(name, value)| (name, value))).status().unwrap().success()
        };
        succeeds(&start) || succeeds(&["status"])
    }

    /// Crashes it: without closing connections, and with a recovery at the next start.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-m", "immediate", "-w", "stop"]);
    }

    /// Copies its data, in a pause.
    pub fn copy(&self) -> PathBuf {
        self.run("pg_ctl", &["-m", "fast", "-w", "stop"]);
        let copy = self.folder.join("copy");
        copy_folder(&self.data(), &copy);
        self.start_server();
        copy
    }

    /// Crashes it and starts it with an earlier copy of its data: as a standby that is promoted, or as a restored snapshot.
    pub fn go_back(&self, copy: &Path, is_standby: bool) {
        self.crash();
        std::fs::remove_dir_all(self.data()).unwrap();
        copy_folder(copy, &self.data());
        if is_standby {
            std::fs::write(self.data().join("standby.signal"), "").unwrap();
        }
        self.start_server();
        if is_standby {
            self.run("pg_ctl", &["-w", "promote"]);
        }
    }

    /// Copies its data while it runs; false if it cannot.
    pub fn back_up(&self, to: &Path) -> bool {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir_all(to).unwrap();
        std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o777)).unwrap();
        let server = self.url.rsplit_once('/').unwrap().0;
        let target = to.join("data");
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join("pg_basebackup"));
        command.args(["-d", server, "-X", "stream", "-c", "fast", "--no-sync", "-D"]).arg(target);
        command.current_dir("/").status().is_ok_and(|status| status.success())
    }

    /// Puts a copy in the place of its data, while it does not run; false if there is no room.
    pub fn put_back(&self, copy: &Path, is_standby: bool) -> bool {
        let _ = std::fs::remove_dir_all(self.data());
        let status = Command::new("cp").arg("-a").arg(copy.join("data")).arg(self.data()).status();
        status.is_ok_and(|status| status.success())
            && (!is_standby || std::fs::write(self.data().join("standby.signal"), "").is_ok())
    }

    /// Promotes it; true once it is no standby.
    pub fn promote(&self) -> bool {
        let promoted = self.command("pg_ctl", &["-w", "promote"]).status();
        promoted.is_ok_and(|status| status.success()) || !self.data().join("standby.signal").exists()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        assert!(self.command(program, arguments).status().unwrap().success(), "{program} {arguments:?}");
    }

    /// Runs a program as `postgres`: PostgreSQL refuses to run as root.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join(program)).arg("-D").arg(self.data());
        command.args(arguments).current_dir("/").stdout(std::process::Stdio::null());
        command
    }
}

fn copy_folder(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success(), "{} is not copied", from.display());
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.command("pg_ctl", &["-m", "immediate", "stop"]).stderr(std::process::Stdio::null()).status();
    }
}
