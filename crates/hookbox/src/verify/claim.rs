//! What the headers of a request claim, before any of it is believed.

use http::HeaderMap;

use crate::error::Refusal;
use crate::header::{signed_id, single};
use crate::provider::{Carrier, Form, Provider};
use crate::signature::{Algorithm, Encoding, MAX_SIGNATURES};

/// The signatures of a request, and what they cover beside the body.
pub(super) struct Claim<'h> {
    /// The header that the signatures are in.
    pub(super) header: &'static str,
    pub(super) signatures: Vec<(Algorithm, Vec<u8>)>,
    pub(super) id: Option<&'h str>,
    /// As it was written, which is what is signed, and as a number.
    pub(super) time: Option<(&'h str, i64)>,
}

impl<'h> Claim<'h> {
    /// Reads the claim of the first carrier whose signature header is there.
    ///
    /// A later carrier never stands in for an earlier one that is damaged: that would let
    /// whoever can damage a header choose the weaker signature.
    pub(super) fn read(provider: &Provider, headers: &'h HeaderMap) -> Result<Self, Refusal> {
        let present = |carrier: &&Carrier| headers.contains_key(carrier.signature);
        let Some(carrier) = provider.carriers.iter().find(present) else {
            return Err(Refusal::SignatureMissing {
                header: provider.carriers[0].signature,
            });
        };
        let header = carrier.signature;
        let malformed = Refusal::SignatureMalformed { header };
        let text = single(headers, header)?
            .ok_or(malformed)?
            .to_str()
            .map_err(|_| malformed)?;
        let entries = Entries::split(carrier.form, text);
        let signatures = entries.signatures(header)?;
        let time = match (carrier.form, carrier.time) {
            (Form::Fields { .. }, _) => Some(entries.time(header)?),
            (_, Some(name)) => Some(time_header(headers, name)?),
            (_, None) => None,
        };
        let id = carrier
            .id
            .map(|name| signed_id(headers, name))
            .transpose()?;
        Ok(Self {
            header,
            signatures,
            id,
            time,
        })
    }
}

/// A signature header taken apart.
#[derive(Default)]
struct Entries<'h> {
    /// Signatures of a known scheme; none where the text does not spell one.
    known: Vec<Option<(Algorithm, Vec<u8>)>>,
    /// How many are of a scheme that is not used here.
    foreign: usize,
    /// How many are of no form at all.
    unreadable: usize,
    times: Vec<&'h str>,
}

impl<'h> Entries<'h> {
    fn split(form: Form, text: &'h str) -> Self {
        let mut entries = Self::default();
        match form {
            Form::One {
                prefix,
                algorithm,
                encoding,
            } => match text.strip_prefix(prefix) {
                Some(signature) => entries.push(algorithm, encoding, signature),
                None => entries.unreadable += 1,
            },
            Form::Fields {
                separator,
                time,
                signature,
                algorithm,
                encoding,
            } => {
                for field in text.split(separator) {
                    // Stripe writes no space after a comma; relays that join headers do.
                    match field.trim_start_matches(' ').split_once('=') {
                        Some((name, value)) if name == time => entries.times.push(value),
                        Some((name, value)) if name == signature => {
                            entries.push(algorithm, encoding, value);
                        }
                        Some(_) => entries.foreign += 1,
                        None => entries.unreadable += 1,
                    }
                }
            }
            Form::Versions(versions) => {
                for entry in text.split(' ') {
                    let Some((version, signature)) = entry.split_once(',') else {
                        entries.unreadable += 1;
                        continue;
                    };
                    match versions.iter().find(|(name, _)| *name == version) {
                        Some((_, algorithm)) => {
                            entries.push(*algorithm, Encoding::Base64, signature);
                        }
                        None => entries.foreign += 1,
                    }
                }
            }
        }
        entries
    }

    fn push(&mut self, algorithm: Algorithm, encoding: Encoding, text: &str) {
        // Decoding stops where refusing is already certain.
        let decoded = if self.known.len() < MAX_SIGNATURES {
            encoding.decode(text, algorithm.signature_bytes())
        } else {
            None
        };
        self.known.push(decoded.map(|bytes| (algorithm, bytes)));
    }

    /// The signatures that can be compared. One that is damaged does not spoil the others:
    /// during a rotation, or with a version to come, only one of them has to hold.
    fn signatures(&self, header: &'static str) -> Result<Vec<(Algorithm, Vec<u8>)>, Refusal> {
        let signatures: Vec<_> = self.known.iter().flatten().cloned().collect();
        let count = self.known.len() + self.foreign + self.unreadable;
        if count > MAX_SIGNATURES {
            Err(Refusal::SignatureMalformed { header })
        } else if !signatures.is_empty() {
            Ok(signatures)
        } else if self.known.is_empty() && self.unreadable == 0 {
            Err(Refusal::SignatureScheme { header })
        } else {
            Err(Refusal::SignatureMalformed { header })
        }
    }

    fn time(&self, header: &'static str) -> Result<(&'h str, i64), Refusal> {
        match self.times.as_slice() {
            [] => Err(Refusal::TimestampMissing { header }),
            [text] => seconds(text).ok_or(Refusal::TimestampMalformed { header }),
            [_, _, ..] => Err(Refusal::TimestampMalformed { header }),
        }
    }
}

fn time_header<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<(&'h str, i64), Refusal> {
    let value = single(headers, name)?.ok_or(Refusal::TimestampMissing { header: name })?;
    value
        .to_str()
        .ok()
        .and_then(seconds)
        .ok_or(Refusal::TimestampMalformed { header: name })
}

/// A whole number of seconds: digits alone, without sign, space or fraction.
fn seconds(text: &str) -> Option<(&str, i64)> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().map(|number| (text, number))
}
