//! The built server as a process of its own, on files and a port of its own.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use crate::clock::{PATIENCE, eventually};
use crate::http::Client;

/// The token with every right.
pub const ADMIN_TOKEN: &str = "hbt_of_the_tests_0123456789abcdef0123456789";
const SECRET_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// A command needs no more than this of the machine that runs the tests.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How a server is to be started.
#[derive(Clone, Debug)]
pub struct Setup {
    binary: PathBuf,
    directory: Arc<TempDir>,
    address: SocketAddr,
    environment: Vec<(String, String)>,
    wrapper: Vec<String>,
    arguments: Vec<String>,
}

impl Setup {
    /// On an empty directory, with receivers on loopback allowed.
    ///
    /// # Panics
    /// When there is no directory or port to be had.
    #[must_use]
    pub fn new(binary: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let address = free_address();
        let setup = Self {
            binary: binary.into(),
            directory: Arc::new(directory),
            address,
            environment: Vec::new(),
            wrapper: Vec::new(),
            arguments: vec!["serve".into()],
        };
        let database = format!("sqlite:{}", setup.path("hookbox.db").display());
        setup
            .env("HOOKBOX_LISTEN", &address.to_string())
            .env("HOOKBOX_DATABASE", &database)
            .env("HOOKBOX_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("HOOKBOX_SECRET_KEY", SECRET_KEY)
            .env("HOOKBOX_EGRESS_ALLOW", "127.0.0.0/8")
            .env("HOOKBOX_ALLOW_HTTP", "true")
    }

    /// With this in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.into()));
        self
    }

    /// With this settings file.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn config(self, toml: &str) -> Self {
        let file = self.path("hookbox.toml");
        std::fs::write(&file, toml).expect("a settings file");
        self.env("HOOKBOX_CONFIG", &file.display().to_string())
    }

    /// Started by this command, which gets the server's as its last arguments and becomes it by `exec`.
    #[must_use]
    pub fn wrapped(mut self, command: &[&str]) -> Self {
        self.wrapper = command.iter().map(|part| (*part).to_owned()).collect();
        self
    }

    /// A path in the server's directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts the server and waits until it answers.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn start(self) -> Server {
        match self.try_start().await {
            Ok(server) => server,
            Err(log) => panic!("the server did not start:\n{log}"),
        }
    }

    /// Starts the server; when it ends instead of answering, returns what it said.
    ///
    /// # Errors
    /// Its exit status and its log.
    ///
    /// # Panics
    /// When it neither answers nor ends.
    pub async fn try_start(self) -> Result<Server, String> {
        let log = Log::default();
        let mut server = Server {
            child: self.spawn(&log),
            setup: self,
            log,
        };
        server.ready().await?;
        Ok(server)
    }

    /// Runs another command of the binary, against the server of this setup, to its end.
    ///
    /// # Panics
    /// When it cannot be run or does not end.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(&self.binary, arguments);
        command
            .env("HOOKBOX_URL", format!("http://{}", self.address))
            .env("HOOKBOX_TOKEN", ADMIN_TOKEN);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        match output {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => panic!("hookbox {arguments:?}: {error}"),
            Err(_) => panic!("hookbox {arguments:?} did not end"),
        }
    }

    fn spawn(&self, log: &Log) -> Child {
        let mut line = self.wrapper.clone();
        line.push(self.binary.display().to_string());
        line.extend(self.arguments.iter().cloned());
        let arguments: Vec<&str> = line[1..].iter().map(String::as_str).collect();
        let mut command = self.command(Path::new(&line[0]), &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("{line:?}: {error}"),
        };
        log.follow(child.stdout.take().expect("stdout is piped"));
        log.follow(child.stderr.take().expect("stderr is piped"));
        child
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", self.directory.path())
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// A running server. It is killed when dropped; its files go with its setup.
pub struct Server {
    setup: Setup,
    child: Child,
    log: Log,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}

impl Drop for Server {
    #[expect(
        clippy::print_stderr,
        reason = "a failed test shows what the server said"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the server said:\n{}---", self.log());
        }
    }
}

impl Server {
    /// A client with every right.
    #[must_use]
    pub fn client(&self) -> Client {
        self.stranger().with_token(ADMIN_TOKEN)
    }

    /// A client without a token.
    #[must_use]
    pub fn stranger(&self) -> Client {
        Client::new(self.setup.address)
    }

    /// Where it listens; the same after a restart.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.setup.address
    }

    /// How it was started.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Its process.
    ///
    /// # Panics
    /// When it has ended.
    #[must_use]
    pub fn pid(&self) -> Pid {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        id.and_then(Pid::from_raw).expect("the server runs")
    }

    /// Everything that it wrote to its terminal.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Makes every write of it to a file fail, or lets them work again. It must ignore SIGXFSZ.
    ///
    /// # Panics
    /// When its limits cannot be set.
    pub fn set_files_writable(&self, writable: bool) {
        let limit = Rlimit {
            current: if writable { None } else { Some(0) },
            maximum: None,
        };
        prlimit(Some(self.pid()), Resource::Fsize, limit)
            .expect("the limits of a child can be set");
    }

    /// Kills it, in the middle of whatever it does.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill9(&mut self) {
        self.child.kill().await.expect("SIGKILL ends a process");
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    ///
    /// # Panics
    /// When it does not stop within [`PATIENCE`].
    pub async fn terminate(&mut self) -> ExitStatus {
        kill_process(self.pid(), Signal::TERM).expect("SIGTERM can be sent");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        match ended {
            Ok(status) => status.expect("a child can be waited for"),
            Err(_) => panic!("SIGTERM did not end the server in {} s", PATIENCE.as_secs()),
        }
    }

    /// Starts it again on the same files, after it ended.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn restart(&mut self) {
        self.child = self.setup.spawn(&self.log);
        if let Err(log) = self.ready().await {
            panic!("the server did not start again:\n{log}");
        }
    }

    async fn ready(&mut self) -> Result<(), String> {
        let client = self.stranger();
        let child = Mutex::new(&mut self.child);
        let up = eventually("the server answers", || async {
            let ended = child
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_wait();
            if let Ok(Some(status)) = ended {
                return Some(Err(status));
            }
            let nothing = crate::http::full(b"");
            let reply = client
                .try_send(http::Method::GET, "/livez", &[], nothing)
                .await;
            reply.is_ok().then_some(Ok(()))
        });
        let up = up.await;
        match up {
            Ok(()) => Ok(()),
            Err(status) => {
                self.log.ended().await;
                Err(format!("{status}\n{}", self.log()))
            }
        }
    }
}

/// What a process writes to its terminal, gathered over restarts.
#[derive(Clone, Default)]
struct Log {
    text: Arc<Mutex<String>>,
    readers: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
}

impl Log {
    fn follow(&self, stream: impl AsyncRead + Send + Unpin + 'static) {
        let text = Arc::clone(&self.text);
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&line);
                text.push('\n');
            }
        });
        self.readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reader);
    }

    /// Waits until what an ended process wrote has been read.
    async fn ended(&self) {
        let readers =
            std::mem::take(&mut *self.readers.lock().unwrap_or_else(PoisonError::into_inner));
        for reader in readers {
            let _ = reader.await;
        }
    }

    fn text(&self) -> String {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A port that no outgoing connection takes while the server is down: below the range of those.
///
/// # Panics
/// Never: the ports of the range fit.
#[must_use]
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test processes that run side by side begin at different ports.
    let start = std::process::id() % 100 * 100;
    loop {
        let offset = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 20_000 + (start + offset) % 10_000;
        let port = u16::try_from(port).expect("30,000 fits into u16");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}
