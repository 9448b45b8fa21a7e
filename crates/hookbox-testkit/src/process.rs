//! The built server as a process of its own.

mod log;
mod port;
mod setup;

use std::fmt;
use std::net::SocketAddr;
use std::process::ExitStatus;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use tokio::process::Child;

use self::log::Log;
pub use self::port::Port;
pub(crate) use self::setup::PATH;
pub use self::setup::Setup;
use crate::clock::{PATIENCE, pause};
use crate::http::Client;

/// The token with every right.
pub const ADMIN_TOKEN: &str = "hbt_of_the_tests_0123456789abcdef0123456789";
/// What the server says once it can be reached.
const LISTENING: &str = "hookbox is listening on";

/// A running server. It is killed when dropped; its files go with its setup.
pub struct Server {
    setup: Setup,
    child: Child,
    log: Log,
    /// How often it was started.
    starts: usize,
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
        Client::new(self.setup.address())
    }

    /// Where it listens; the same after a restart.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.setup.address()
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

    /// Stops it where it is, without its knowing.
    ///
    /// # Panics
    /// When it has ended.
    pub fn freeze(&self) {
        kill_process(self.pid(), Signal::STOP).expect("SIGSTOP can be sent");
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// When it has ended.
    pub fn thaw(&self) {
        kill_process(self.pid(), Signal::CONT).expect("SIGCONT can be sent");
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
        self.starts += 1;
        if let Err(log) = self.ready().await {
            panic!("the server did not start again:\n{log}");
        }
    }

    async fn ready(&mut self) -> Result<(), String> {
        let up = self.log.says(LISTENING, self.starts);
        let ended = tokio::select! {
            () = up => None,
            status = self.child.wait() => Some(status),
            () = pause(PATIENCE) => panic!("the server neither listens nor ends:\n{}", self.log()),
        };
        let Some(status) = ended else { return Ok(()) };
        let status = status.expect("a child can be waited for");
        self.log.ended().await;
        Err(format!("{status}\n{}", self.log()))
    }
}
