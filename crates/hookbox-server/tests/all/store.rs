//! The promises of `Store`, kept by every database: plain functions, each run over all of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod claim;
pub(crate) mod database;
mod delivery;
mod file;
mod manage;
mod once;
mod paging;
mod queue;
mod record;
mod settle;
mod statement;
mod upkeep;

/// Makes a test of each function for every database.
macro_rules! on_every_database {
    ($($name:ident),* $(,)?) => {
        $crate::store::tests! { $($name: sqlite postgres mysql;)* }
    };
}
pub(crate) use on_every_database;

/// The same for what a file, which one process has to itself, cannot show or does not promise.
macro_rules! on_shared_databases {
    ($($name:ident),* $(,)?) => {
        $crate::store::tests! { $($name: postgres mysql;)* }
    };
}
pub(crate) use on_shared_databases;

macro_rules! tests {
    ($($name:ident: $($database:ident)*;)*) => { $(
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $database() {
                    super::$name(&$crate::store::database::TestDatabase::$database().await).await;
                }
            )*
        }
    )* };
}
pub(crate) use tests;
