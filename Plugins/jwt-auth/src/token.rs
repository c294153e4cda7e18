//! Verification of JSON Web Tokens (RFC 7519, RFC 7515, RFC 8725). It does no I/O.

use crate::base64url::decode;
use crate::crypto::Algorithm;
use crate::json::Json;
use crate::keys::KeySet;
use crate::settings::Settings;

/// How many keys a token without a key id is tried with.
const MAXIMUM_TRIES: usize = 8;
/// The longest value of a header that is made of a claim, in bytes.
const MAXIMUM_VALUE: usize = 4096;

/// Why a token is refused.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    /// No key has the token's id. A newer key set may have it.
    UnknownKey,
    /// For people; without data of the token.
    Invalid(&'static str),
}

/// The content of a valid token.
#[derive(Debug)]
pub struct Claims {
    json: Json,
    /// In seconds since 1970, with the tolerance.
    pub expiry: f64,
}

/// Checks a token at a time, in seconds since 1970.
pub fn verify(token: &str, keys: &KeySet, settings: &Settings, now: f64) -> Result<Claims, Refusal> {
    use Refusal::Invalid;
    if token.len() > settings.maximum_token {
        return Err(Invalid("the token is longer than maximum-token-bytes"));
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(Invalid("the token does not have three parts"))?;
    let (header, payload) = signed.split_once('.').ok_or(Invalid("the token does not have three parts"))?;
    if payload.contains('.') {
        return Err(Invalid("the token does not have three parts"));
    }
    let header = part(header).ok_or(Invalid("the header of the token is not base64url of a JSON object"))?;
    // The list has no symmetric algorithm and not "none", and the key must be of the same kind.
    let algorithm = header
        .member("alg")
        .and_then(Json::text)
        .and_then(Algorithm::named)
        .filter(|algorithm| settings.algorithms.contains(algorithm))
        .ok_or(Invalid("the algorithm of the token is not accepted"))?;
    if header.member("crit").is_some() {
        return Err(Invalid("the token has a critical extension that is not supported"));
    }
    let id = match header.member("kid") {
        None => None,
        Some(id) => Some(id.text().ok_or(Invalid("the key id of the token is not a string"))?),
    };
    let signature = decode(signature).ok_or(Invalid("the signature of the token is not base64url"))?;
    let mut candidates = keys.matching(algorithm, id).take(MAXIMUM_TRIES).peekable();
    if candidates.peek().is_none() {
        return Err(Refusal::UnknownKey);
    }
    if !candidates.any(|key| key.has_signed(signed.as_bytes(), &signature)) {
        // A set that was replaced may have used the same id, or none.
        return Err(if id.is_none() { Refusal::UnknownKey } else { Invalid("the signature of the token is wrong") });
    }
    let json = part(payload).ok_or(Invalid("the claims of the token are not base64url of a JSON object"))?;
    check(json, settings, now).map_err(Invalid)
}

fn part(text: &str) -> Option<Json> {
    Json::parse(&decode(text)?).ok().filter(|json| matches!(json, Json::Object(_)))
}

fn check(json: Json, settings: &Settings, now: f64) -> Result<Claims, &'static str> {
    let time = |name: &str, problem| match json.member(name) {
        None => Ok(None),
        Some(value) => value.number().map(Some).ok_or(problem),
    };
    let expiry = time("exp", "the claim exp is not a number")?.ok_or("the token has no claim exp")? + settings.skew;
    if now >= expiry {
        return Err("the token has expired");
    }
    if time("nbf", "the claim nbf is not a number")?.is_some_and(|start| now + settings.skew < start) {
        return Err("the token is not valid yet");
    }
    let is_expected = |value: &Json, expected: &[String]| value.text().is_some_and(|text| expected.iter().any(|one| one == text));
    if !json.member("iss").is_some_and(|issuer| is_expected(issuer, &settings.issuers)) {
        return Err("the token is from another issuer");
    }
    if !settings.audiences.is_empty() {
        let is_ours = match json.member("aud") {
            Some(Json::List(items)) => items.iter().any(|item| is_expected(item, &settings.audiences)),
            Some(audience) => is_expected(audience, &settings.audiences),
            None => false,
        };
        if !is_ours {
            return Err("the token is for another audience");
        }
    }
    Ok(Claims { json, expiry })
}

impl Claims {
    /// The value of a header: texts, numbers and booleans as they are, a list of them with commas, other values as no header.
    ///
    /// A text with a comma in a list could become two items, so it is refused.
    pub fn header_value(&self, claim: &str) -> Result<Option<String>, &'static str> {
        let value = if claim.starts_with('/') { self.json.at(claim) } else { self.json.member(claim) };
        let text = match value {
            None | Some(Json::Null) => return Ok(None),
            Some(Json::List(items)) => {
                let items = items.iter().map(scalar).collect::<Option<Vec<_>>>().ok_or("a claim is a list of lists or objects")?;
                if items.iter().any(|item| item.contains(',')) {
                    return Err("an item of a claim has a comma, which separates items in a header");
                }
                items.join(",")
            }
            Some(value) => scalar(value).ok_or("a claim is an object, which a header cannot contain")?,
        };
        if text.len() > MAXIMUM_VALUE {
            return Err("a claim is longer than a header may be");
        }
        if text.chars().any(char::is_control) || text.trim() != text {
            return Err("a claim has a character that a header cannot contain");
        }
        Ok(Some(text))
    }
}

fn scalar(json: &Json) -> Option<String> {
    match json {
        Json::Text(text) | Json::Number(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
