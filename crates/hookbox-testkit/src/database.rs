//! Databases to throw away, on the servers that the machine has.
//!
//! `HOOKBOX_TEST_POSTGRES` and `HOOKBOX_TEST_MYSQL` say where they are; without, they are looked for where Debian's
//! packages put them. A server that is not there fails the test: nothing is skipped.

use mysql_async::prelude::Queryable as _;

/// A database that is dropped with this value.
#[derive(Debug)]
pub struct Database {
    kind: Kind,
    server: String,
    name: String,
    url: String,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Postgres,
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
        database
            .run(&create)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", database.server));
        database
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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
