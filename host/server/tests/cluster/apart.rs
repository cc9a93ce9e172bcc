//! A PostgreSQL of a fleet's own, which can be restarted, and a node in a network namespace of its own, which can be cut
//! off from the database, from the bus or from the others without anybody being told: packets are dropped.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// What a node is connected to the others by.
#[derive(Clone, Copy)]
pub enum Link {
    Database,
    Bus,
    Http,
}

/// A machine of a node's own, as far as the network is concerned: a namespace with one cable for each link.
pub struct Island {
    name: String,
    subnet: String,
}

impl Island {
    pub fn new() -> Self {
        let id = std::process::id();
        let island = Self { name: format!("hub{id}"), subnet: format!("10.{}.{}", 64 + (id >> 8) % 64, id % 256) };
        let (name, there) = (&island.name, format!("-n {}", island.name));
        ip(&format!("netns add {name}"));
        ip(&format!("{there} link set lo up"));
        for link in [Link::Database, Link::Bus, Link::Http] {
            let [here_end, there_end] = island.ends(link);
            ip(&format!("link add {here_end} type veth peer name {there_end} netns {name}"));
            ip(&format!("addr add {}/30 dev {here_end}", island.here(link)));
            ip(&format!("link set {here_end} up"));
            ip(&format!("{there} addr add {}/30 dev {there_end}", island.there(link)));
            ip(&format!("{there} link set {there_end} up"));
        }
        island
    }

    fn ends(&self, link: Link) -> [String; 2] {
        [format!("{}h{}", self.name, link as u8), format!("{}n{}", self.name, link as u8)]
    }

    /// The address at this end of a link.
    pub fn here(&self, link: Link) -> String {
        format!("{}.{}", self.subnet, 4 * link as u8 + 1)
    }

    /// The address on the island.
    pub fn there(&self, link: Link) -> String {
        format!("{}.{}", self.subnet, 4 * link as u8 + 2)
    }

    /// What runs a program there.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, program]);
        command
    }

    /// From now on each end sends to an address that nobody has.
    pub fn cut(&self, link: Link) {
        let nobody = "lladdr 02:00:00:00:00:99 nud permanent";
        let [here_end, there_end] = self.ends(link);
        ip(&format!("neigh replace {} dev {here_end} {nobody}", self.there(link)));
        ip(&format!("-n {} neigh replace {} dev {there_end} {nobody}", self.name, self.here(link)));
    }

    pub fn heal(&self, link: Link) {
        let [here_end, there_end] = self.ends(link);
        ip(&format!("neigh del {} dev {here_end}", self.there(link)));
        ip(&format!("-n {} neigh del {} dev {there_end}", self.name, self.here(link)));
    }
}

impl Drop for Island {
    fn drop(&mut self) {
        // The namespace takes its cables with it, but not at once.
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
    folder: TempDir,
}

impl Postgres {
    pub fn start(host: &str, port: u16) -> Self {
        let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed (Debian's postgresql)");
        let programs = versions.map(|version| version.unwrap().path().join("bin")).max().unwrap();
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        // What it acknowledged survives its own end; nobody pulls the machine's plug.
        let options = format!(
            "-p {port} -c listen_addresses={host} -c unix_socket_directories= -c fsync=off -c max_connections=200"
        );
        let url = format!("postgres://postgres@{host}:{port}/postgres");
        let postgres = Self { url, programs, options, folder };
        postgres.run("initdb", &["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
        let hba = postgres.data().join("pg_hba.conf");
        let mut rules = std::fs::read_to_string(&hba).unwrap();
        rules.push_str("host all all 10.0.0.0/8 trust\n");
        std::fs::write(hba, rules).unwrap();
        postgres.again();
        postgres
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts it once more.
    pub fn again(&self) {
        let log = self.folder.path().join("log");
        self.run("pg_ctl", &["-w", "-l", log.to_str().unwrap(), "-o", &self.options, "start"]);
    }

    /// As a crash does: without a word to anybody, and it has to recover.
    pub fn crash(&self) {
        self.run("pg_ctl", &["-m", "immediate", "-w", "stop"]);
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        assert!(self.command(program, arguments).status().unwrap().success(), "{program} {arguments:?}");
    }

    /// It refuses to run as root.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join(program)).arg("-D").arg(self.data());
        command.args(arguments).current_dir("/").stdout(std::process::Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.command("pg_ctl", &["-m", "immediate", "stop"]).stderr(std::process::Stdio::null()).status();
    }
}
