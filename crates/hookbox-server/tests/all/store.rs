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
    ($($name:ident),* $(,)?) => { $(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name(&$crate::store::database::TestDatabase::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$name(&$crate::store::database::TestDatabase::postgres().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn mysql() {
                super::$name(&$crate::store::database::TestDatabase::mysql().await).await;
            }
        }
    )* };
}
pub(crate) use on_every_database;
