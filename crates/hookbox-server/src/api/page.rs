//! Lists, a page at a time.

use serde::Serialize;

use super::asked::Reply;
use super::error::Place;
use super::query::Query;
use super::{Answer, Fault};
use crate::store::{Listing, Page};

const USUAL: u32 = 50;
const MOST: u32 = 250;

/// Which way a list goes when the caller does not say.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// First or oldest first.
    Ascending,
    /// Last or newest first.
    Descending,
}

/// Which page is asked for. `cursor` reads what an earlier page gave as `iterator`; a `-` before it turns
/// back towards the beginning.
pub(super) fn page<C>(
    query: &Query,
    usual: Order,
    cursor: impl FnOnce(&str) -> Option<C>,
) -> Result<Page<C>, Fault> {
    let limit = query.parsed("limit", "a whole number from 1 to 250", |text| {
        text.parse().ok().filter(|limit| (1..=MOST).contains(limit))
    })?;
    let order = query.parsed("order", "ascending or descending", |text| match text {
        "ascending" => Some(Order::Ascending),
        "descending" => Some(Order::Descending),
        _ => None,
    })?;
    let mut page = Page {
        limit: limit.unwrap_or(USUAL),
        after: None,
        backwards: false,
        descending: matches!(order.unwrap_or(usual), Order::Descending),
    };
    if let Some(text) = query.text("iterator") {
        let after = text.strip_prefix('-');
        page.backwards = after.is_some();
        let wrong = || Fault::invalid(Place::Query, "iterator", "is none of this list");
        page.after = Some(cursor(after.unwrap_or(text)).ok_or_else(wrong)?);
    }
    Ok(page)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<O> {
    data: Vec<O>,
    iterator: Option<String>,
    prev_iterator: Option<String>,
    done: bool,
}

/// A page as it is answered: `data` shows the entries, `cursor` says where one stands in the list.
pub(super) fn list<T, O: Serialize>(
    listing: &Listing<T>,
    cursor: impl Fn(&T) -> String,
    data: Vec<O>,
) -> Answer {
    Reply::ok(&Shown {
        data,
        iterator: listing.data.last().map(&cursor),
        prev_iterator: listing
            .data
            .first()
            .map(|first| format!("-{}", cursor(first))),
        done: !listing.more,
    })
}

#[cfg(test)]
mod tests {
    use axum::extract::FromRequestParts as _;
    use axum::http::Request;

    use super::*;

    async fn asked(query: &str) -> Result<Page<u32>, String> {
        let request = Request::builder()
            .uri(format!("/?{query}"))
            .body(())
            .unwrap();
        let mut parts = request.into_parts().0;
        let query = Query::from_request_parts(&mut parts, &()).await.unwrap();
        page(&query, Order::Descending, |text| text.parse().ok()).map_err(|fault| match fault {
            Fault::Invalid { name, .. } => name,
            other => panic!("{other:?}"),
        })
    }

    #[tokio::test]
    async fn pages_have_bounds_and_directions() {
        let page = asked("").await.unwrap();
        assert_eq!(
            (page.limit, page.after, page.backwards, page.descending),
            (50, None, false, true)
        );
        let page = asked("limit=250&iterator=-7&order=ascending")
            .await
            .unwrap();
        assert_eq!(
            (page.limit, page.after, page.backwards, page.descending),
            (250, Some(7), true, false)
        );
        for (query, name) in [
            ("limit=0", "limit"),
            ("limit=251", "limit"),
            ("limit=-1", "limit"),
            ("limit=abc", "limit"),
            ("limit=1000000000000", "limit"),
            ("iterator=x", "iterator"),
            ("iterator=--7", "iterator"),
            ("order=up", "order"),
        ] {
            assert_eq!(asked(query).await.unwrap_err(), name, "{query}");
        }
    }

    #[test]
    fn the_answer_always_says_where_it_stands() {
        let shown = |data: Vec<u32>, more| {
            let listing = Listing { data, more };
            let data = listing.data.clone();
            list(&listing, u32::to_string, data).unwrap().text()
        };
        assert_eq!(
            shown(vec![3, 2], true),
            r#"{"data":[3,2],"iterator":"2","prevIterator":"-3","done":false}"#
        );
        assert_eq!(
            shown(vec![], false),
            r#"{"data":[],"iterator":null,"prevIterator":null,"done":true}"#
        );
    }
}
