//! What an address says after its `?`.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::Fault;
use super::error::Place;
use crate::model::Time;

/// The parameters after the `?`. Unknown ones are ignored, as SDKs of all ages send them.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Takes a query apart.
    pub(super) fn read(query: Option<&str>) -> Self {
        let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The text of a parameter; none when it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A parameter that is read by `read`; `what` says what it must be.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let wrong = || Fault::invalid(Place::Query, name, format!("must be {what}"));
        self.text(name)
            .map(|text| read(text).ok_or_else(wrong))
            .transpose()
    }

    /// A parameter that is `true` or `false`.
    pub(super) fn flag(&self, name: &str, otherwise: bool) -> Result<bool, Fault> {
        let read = |text: &str| text.parse().ok();
        Ok(self
            .parsed(name, "true or false", read)?
            .unwrap_or(otherwise))
    }

    /// A parameter that is a moment.
    pub(super) fn time(&self, name: &str) -> Result<Option<Time>, Fault> {
        self.parsed(name, "a moment such as 2026-11-30T12:00:00Z", |text| {
            // In a query a bare `+` stands for a space; here it can only be a zone's sign.
            Time::parse(&text.replace(' ', "+")).filter(|at| at.0 >= 0)
        })
    }

    /// A list: `name=a,b`, `name[]=a&name[]=b` or `name[0]=a`.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        let named = |known: &str| {
            known.strip_prefix(name).is_some_and(|rest| {
                rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']'))
            })
        };
        let values = self.0.iter().filter(|(known, _)| named(known));
        values
            .flat_map(|(_, value)| value.split(','))
            .filter(|value| !value.is_empty())
            .collect()
    }

    /// Refuses a filter that is not kept: leaving it out would show what was not asked for.
    pub(super) fn refuse(&self, name: &str) -> Result<(), Fault> {
        match self.text(name) {
            Some(_) => Err(Fault::invalid(
                Place::Query,
                name,
                "is not supported by this server",
            )),
            None => Ok(()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        Ok(Self::read(parts.uri.query()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_in_three_spellings() {
        for text in [
            "e=a,b",
            "e[]=a&e[]=b",
            "e[0]=a&e[1]=b",
            "e%5B%5D=a&e=b&other=c",
        ] {
            assert_eq!(Query::read(Some(text)).list("e"), ["a", "b"], "{text}");
        }
        assert!(Query::read(Some("e=")).list("e").is_empty());
    }

    #[test]
    fn moments_need_a_zone() {
        let time = |text: &str| Query::read(Some(&format!("before={text}"))).time("before");
        assert_eq!(time("1970-01-01T01:00:01+01:00"), Ok(Some(Time(1000))));
        assert_eq!(time("1970-01-01T01:00:01%2B01:00"), Ok(Some(Time(1000))));
        assert_eq!(time(""), Ok(None));
        for text in [
            "1970-01-01T00:00:00",
            "0000-01-01T00:00:00Z",
            "275760-01-01T00:00:00Z",
            "x",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
