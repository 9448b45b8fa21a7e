//! Ports that stay one's own while nobody listens there.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// A port of loopback. It is below the range of outgoing connections, so that none takes it between two runs of a
/// server, and no other test takes it as long as this lives.
#[derive(Debug)]
pub struct Port {
    address: SocketAddr,
    /// The same port of another address of this machine: who wants the port asks there first.
    _claim: TcpListener,
}

impl Port {
    /// One that is free.
    ///
    /// # Panics
    /// Never: the ports of the range fit.
    #[must_use]
    pub fn free() -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(0);
        // Test processes that run side by side begin at different ports.
        let start = std::process::id() % 100 * 100;
        loop {
            let offset = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
            let port = 20_000 + (start + offset) % 10_000;
            let port = u16::try_from(port).expect("30,000 fits into u16");
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let Ok(claim) = TcpListener::bind(SocketAddr::from(([127, 0, 0, 2], port))) else {
                continue;
            };
            if TcpListener::bind(address).is_ok() {
                return Self {
                    address,
                    _claim: claim,
                };
            }
        }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
