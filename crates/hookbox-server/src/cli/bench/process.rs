//! A server as a child process of this binary.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::cli::error::Error;
use crate::model::Secret;

/// A child that serves. It is killed when dropped: what it holds is thrown away.
#[derive(Debug)]
pub(super) struct Process {
    /// Where it can be reached.
    pub(super) url: String,
    _child: Guard,
    /// Kept open: what it says must not break its pipe.
    _said: BufReader<ChildStdout>,
}

#[derive(Debug)]
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a floor on a free port.
    pub(super) async fn floor() -> Result<Self, Error> {
        Self::start(command()?.args(["bench", "floor", "--listen", "127.0.0.1:0"])).await
    }

    /// Starts a server on a free port, with settings and nothing else of the environment.
    pub(super) async fn server(
        settings: &Path,
        database: &str,
        token: &Secret,
    ) -> Result<Self, Error> {
        let mut command = command()?;
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "error"])
            .args(["--egress-allow", "127.0.0.0/8", "--allow-http"])
            .args(["--database", database])
            .arg("--config")
            .arg(settings)
            .env("HOOKBOX_ADMIN_TOKEN", token.expose());
        Self::start(&mut command).await
    }

    async fn start(command: &mut Command) -> Result<Self, Error> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Failed(format!("a server could not be started: {error}"))
        };
        let mut child = Guard(command.spawn().map_err(|error| failed(&error))?);
        let said = child.0.stdout.take().map(BufReader::new);
        let said = said.ok_or_else(|| failed(&"it has no output"))?;
        let listening = tokio::task::spawn_blocking(|| address(said)).await;
        let (url, said) = listening
            .ok()
            .flatten()
            .ok_or_else(|| failed(&"it ended at once; what it said is above"))?;
        Ok(Self {
            url,
            _child: child,
            _said: said,
        })
    }
}

fn command() -> Result<Command, Error> {
    let binary = std::env::current_exe()
        .map_err(|error| Error::Failed(format!("this binary cannot be found: {error}")))?;
    let mut command = Command::new(binary);
    command
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    Ok(command)
}

/// Reads on until it is said where the server listens.
fn address(mut said: BufReader<ChildStdout>) -> Option<(String, BufReader<ChildStdout>)> {
    let mut line = String::new();
    while said.read_line(&mut line).ok()? > 0 {
        if let Some((_, url)) = line.split_once("listening on ") {
            return Some((url.trim().to_owned(), said));
        }
        line.clear();
    }
    None
}
