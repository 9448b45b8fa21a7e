//! Databases to throw away, on the servers that the machine has.
//!
//! `HOOKBOX_TEST_POSTGRES` and `HOOKBOX_TEST_MYSQL` say where they are; without, they are looked for where Debian's
//! packages put them. A server that is not there fails the test: nothing is skipped.

use std::net::SocketAddr;

use mysql_async::prelude::Queryable as _;

use crate::clock::in_time;
use crate::service::Service;

/// A database that is dropped with this value.
#[derive(Debug)]
pub struct Database {
    kind: Kind,
    server: String,
    name: String,
    url: String,
}

/// Which language a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `PostgreSQL`.
    Postgres,
    /// `MySQL` or `MariaDB`.
    Mysql,
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no settings to read it for them"
)]
fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

impl Database {
    /// An empty `PostgreSQL` database.
    ///
    /// # Panics
    /// When the server cannot be reached.
    pub async fn postgres() -> Self {
        let server = setting(
            "HOOKBOX_TEST_POSTGRES",
            "postgres://postgres@127.0.0.1:5432/postgres",
        );
        Self::new(Kind::Postgres, server).await
    }

    /// An empty `MySQL` or `MariaDB` database.
    ///
    /// # Panics
    /// When the server cannot be reached.
    pub async fn mysql() -> Self {
        let server = setting("HOOKBOX_TEST_MYSQL", "mysql://root@127.0.0.1:3306/mysql");
        Self::new(Kind::Mysql, server).await
    }

    /// An empty database on a server of the test's own.
    ///
    /// # Panics
    /// When the server cannot be reached.
    pub async fn of(service: &Service) -> Self {
        Self::new(service.kind(), service.url()).await
    }

    async fn new(kind: Kind, server: String) -> Self {
        let name = format!("hookbox_test_{}", hex::encode(random()));
        let (before, _) = server
            .rsplit_once('/')
            .expect("the address names a database");
        let url = format!("{before}/{name}");
        let database = Self {
            kind,
            url,
            name,
            server,
        };
        let create = format!("CREATE DATABASE {}", database.name);
        // A server that was just started may still say that it is starting.
        let done = in_time(|| async { database.run(&create).await.ok() }).await;
        assert!(done.is_some(), "no database on {}", database.server);
        database
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its address when the server is reached at another port of this machine.
    ///
    /// # Panics
    /// Never: its own address has these parts.
    #[must_use]
    pub fn url_by(&self, address: SocketAddr) -> String {
        let (before, _) = self.url.rsplit_once('@').expect("a user");
        format!("{before}@{address}/{}", self.name)
    }

    /// Where its server listens.
    ///
    /// # Panics
    /// When the server is given by a name.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        let (_, rest) = self.url.rsplit_once('@').expect("a user");
        let (address, _) = rest.split_once('/').expect("a path");
        address.parse().expect("an address and a port")
    }

    /// Which language it speaks.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number that a query finds in the database.
    ///
    /// # Panics
    /// When it finds none.
    pub async fn number(&self, query: &str) -> i64 {
        let found = self.find(query).await;
        found.unwrap_or_else(|error| panic!("{query}: {error}"))
    }

    async fn find(&self, query: &str) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
        match self.kind {
            Kind::Postgres => {
                let (client, connection) =
                    tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await?;
                let driver = tokio::spawn(connection);
                client.batch_execute("SET search_path TO hookbox").await?;
                let number = client.query_one(query, &[]).await?.try_get(0)?;
                drop(client);
                let _ = driver.await;
                Ok(number)
            }
            Kind::Mysql => {
                let mut connection = mysql_async::Conn::from_url(&self.url).await?;
                let number = connection.query_first(query).await?;
                connection.disconnect().await?;
                number.ok_or_else(|| "no row".into())
            }
        }
    }

    /// A session of somebody else in a `PostgreSQL` database.
    ///
    /// # Panics
    /// When it cannot connect.
    pub async fn session(&self) -> tokio_postgres::Client {
        let connected = tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("the database answers");
        tokio::spawn(connection);
        client
    }

    /// Ends every connection of a Hookbox node to it, in the middle of whatever it does.
    ///
    /// # Errors
    /// What the server says.
    pub async fn end_connections(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if self.kind == Kind::Postgres {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hookbox'";
            return self
                .run(&format!("{end} AND datname = '{}'", self.name))
                .await;
        }
        let mut connection = mysql_async::Conn::from_url(&self.server).await?;
        let list = "SELECT id FROM information_schema.processlist WHERE db = ?";
        let ids: Vec<u64> = connection.exec(list, (&self.name,)).await?;
        for id in ids {
            // It may have ended by itself.
            let _ = connection.query_drop(format!("KILL CONNECTION {id}")).await;
        }
        connection.disconnect().await?;
        Ok(())
    }

    /// Runs a statement on the server, beside the database.
    ///
    /// # Errors
    /// What the server says.
    pub async fn run(
        &self,
        statement: &str,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.run_at(&self.server, statement).await
    }

    /// Runs a statement in the database.
    ///
    /// # Errors
    /// What the server says.
    pub async fn run_inside(
        &self,
        statement: &str,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.run_at(&self.url, statement).await
    }

    async fn run_at(
        &self,
        url: &str,
        statement: &str,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match self.kind {
            Kind::Postgres => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
                let driver = tokio::spawn(connection);
                client.batch_execute(statement).await?;
                drop(client);
                let _ = driver.await;
            }
            Kind::Mysql => {
                let mut connection = mysql_async::Conn::from_url(url).await?;
                connection.query_drop(statement).await?;
                connection.disconnect().await?;
            }
        }
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = match self.kind {
            Kind::Postgres => format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
            Kind::Mysql => format!("DROP DATABASE IF EXISTS {}", self.name),
        };
        // A test may be in a runtime that must not block: a thread of its own waits.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                if let Ok(runtime) = runtime {
                    let _ = runtime.block_on(self.run(&drop));
                }
            });
        });
    }
}

fn random() -> [u8; 6] {
    use std::hash::{BuildHasher as _, RandomState};
    let mut bytes = [0; 6];
    bytes.copy_from_slice(&RandomState::new().hash_one(0).to_be_bytes()[..6]);
    bytes
}
