//! How a server is started: on files and a port of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::log::Log;
use super::port::Port;
use super::{ADMIN_TOKEN, Server};
use crate::clock::PATIENCE;

const SECRET_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// A command needs no more than this of the machine that runs the tests.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How a server is to be started.
#[derive(Clone, Debug)]
pub struct Setup {
    binary: PathBuf,
    directory: Arc<TempDir>,
    port: Arc<Port>,
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
        let port = Port::free();
        let address = port.address();
        let setup = Self {
            binary: binary.into(),
            directory: Arc::new(directory),
            port: Arc::new(port),
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

    /// On that database instead of a file.
    #[must_use]
    pub fn on(self, url: &str) -> Self {
        self.env("HOOKBOX_DATABASE", url)
    }

    /// Another node like this one: on the same database, with the same settings, at a port of its own.
    #[must_use]
    pub fn node(&self) -> Self {
        let port = Port::free();
        let address = port.address().to_string();
        Self {
            port: Arc::new(port),
            ..self.clone()
        }
        .env("HOOKBOX_LISTEN", &address)
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.port.address()
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
            starts: 1,
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
            .env("HOOKBOX_URL", format!("http://{}", self.address()))
            .env("HOOKBOX_TOKEN", ADMIN_TOKEN);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        match output {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => panic!("hookbox {arguments:?}: {error}"),
            Err(_) => panic!("hookbox {arguments:?} did not end"),
        }
    }

    pub(super) fn spawn(&self, log: &Log) -> Child {
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
