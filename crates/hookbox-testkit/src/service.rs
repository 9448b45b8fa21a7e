//! Servers of the test's own, to be killed and started again: databases, and a proxy before one.
//!
//! They come from Debian's packages `postgresql`, `mariadb-server` and `pgbouncer`, and run as another user when the
//! test runs as root, which they refuse to do.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::clock::eventually;
use crate::database::{Database, Kind};
use crate::process::{PATH, Port};

/// A server in a directory and at a port of its own. It ends with this value.
#[derive(Debug)]
pub struct Service {
    kind: Kind,
    user: &'static str,
    directory: TempDir,
    port: Port,
    /// How it is started.
    line: Vec<String>,
    /// What it is told to end as by a crash.
    crash: Signal,
    child: Option<Child>,
}

/// A process of a server that is stopped until this is dropped.
#[derive(Debug)]
pub struct Stopped(Pid);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

impl Stopped {
    /// Stops the process of that number.
    ///
    /// # Panics
    /// When there is none, or it belongs to somebody else.
    #[must_use]
    pub fn process(number: i64) -> Self {
        let number = i32::try_from(number).ok();
        let pid = number.and_then(Pid::from_raw).expect("a process");
        kill_process(pid, Signal::STOP).expect("SIGSTOP can be sent");
        Self(pid)
    }
}

impl Service {
    /// `PostgreSQL`, without any database yet.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn postgres() -> Self {
        // The postmaster's children outlive a SIGKILL for a while; SIGQUIT makes it stop without writing anything.
        let mut server = Self::new(Kind::Postgres, "postgres", Signal::QUIT);
        let (bin, data) = (postgres_bin(), server.path("data"));
        let init = format!(
            "{bin}/initdb --auth=trust --username=postgres --encoding=UTF8 --no-locale -D {data}"
        );
        server.run(&init).await;
        let settings =
            "-c listen_addresses=127.0.0.1 -c max_connections=200 -c shared_buffers=256MB";
        let directory = server.path("");
        server.line = words(&format!(
            "{bin}/postgres -D {data} -p {} -k {directory} {settings}",
            server.address().port()
        ));
        server.start().await;
        server
    }

    /// `MariaDB`, without any database yet.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn mysql() -> Self {
        let mut server = Self::new(Kind::Mysql, "mysql", Signal::KILL);
        let (data, port) = (server.path("data"), server.address().port());
        let init = "mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db";
        server.run(&format!("{init} --datadir={data}")).await;
        let socket = server.path("socket");
        server.line = words(&format!(
            "mariadbd --no-defaults --datadir={data} --socket={socket} --port={port} --bind-address=127.0.0.1 \
             --innodb-buffer-pool-size=256M --innodb-log-file-size=256M --max-connections=300"
        ));
        server.start().await;
        server
    }

    /// `PgBouncer` before a database, in the mode that gives each transaction another connection.
    ///
    /// # Panics
    /// When it cannot be started.
    pub async fn bouncer(database: &Database) -> Self {
        let mut server = Self::new(Kind::Postgres, "nobody", Signal::KILL);
        let (behind, own) = (database.address(), server.address());
        let config = format!(
            "[databases]\n* = host={} port={} user=postgres\n[pgbouncer]\nlisten_addr = {}\nlisten_port = {}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 6\nunix_socket_dir =\n",
            behind.ip(),
            behind.port(),
            own.ip(),
            own.port()
        );
        let file = server.path("pgbouncer.ini");
        std::fs::write(&file, config).expect("a settings file");
        server.line = words(&format!("pgbouncer --quiet {file}"));
        server.start().await;
        server
    }

    fn new(kind: Kind, user: &'static str, crash: Signal) -> Self {
        let directory = TempDir::new().expect("a directory");
        // The other user writes into it.
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777))
            .expect("the directory is ours");
        Self {
            kind,
            user,
            directory,
            port: Port::free(),
            line: Vec::new(),
            crash,
            child: None,
        }
    }

    /// Where it listens; the same after a restart.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The address of the database that every server has.
    pub(crate) fn url(&self) -> String {
        match self.kind {
            Kind::Postgres => format!("postgres://postgres@{}/postgres", self.address()),
            Kind::Mysql => format!("mysql://root@{}/mysql", self.address()),
        }
    }

    /// Ends it without a chance to write anything.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn crash(&mut self) {
        let mut child = self.child.take().expect("it runs");
        kill_process(pid(&child), self.crash).expect("a signal can be sent");
        child.wait().await.expect("a child can be waited for");
    }

    /// Starts it and waits until it takes connections.
    ///
    /// # Panics
    /// When it does not.
    pub async fn start(&mut self) {
        let line = self.line.clone();
        self.child = Some(self.command(&line).spawn().expect("an installed server"));
        let address = self.address();
        eventually(&line.join(" "), || async move { connects(address).await }).await;
    }

    async fn run(&self, line: &str) {
        let done = self.command(&words(line)).output().await;
        let done = done.unwrap_or_else(|error| panic!("{line}: {error}"));
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{line}: {said}");
    }

    fn command(&self, line: &[String]) -> Command {
        let mut words = Vec::new();
        if geteuid().is_root() {
            let user = self.user;
            words.extend(["setpriv".to_owned(), format!("--reuid={user}")]);
            words.extend([
                format!("--regid={}", group(user)),
                "--clear-groups".to_owned(),
            ]);
        }
        words.extend(line.iter().cloned());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(self.directory.path())
            .env("PATH", PATH)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            // A server that is killed outright leaves its children behind.
            let _ = kill_process(pid(child), Signal::QUIT);
            let _ = kill_process(pid(child), self.crash);
        }
    }
}

fn pid(child: &Child) -> Pid {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw).expect("it runs")
}

fn group(user: &str) -> &str {
    if user == "nobody" { "nogroup" } else { user }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The newest version that Debian's packages have put there.
fn postgres_bin() -> String {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed");
    let version = |path: PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions
        .filter_map(|entry| version(entry.ok()?.path()))
        .max();
    let newest = newest.expect("a version of PostgreSQL");
    format!("/usr/lib/postgresql/{newest}/bin")
}

#[expect(
    clippy::disallowed_methods,
    reason = "asks whether a test's own server listens"
)]
async fn connects(address: SocketAddr) -> Option<()> {
    TcpStream::connect(address).await.ok().map(drop)
}
