//! The configuration.

use std::time::Duration;

use carabiner::{Config, Failure};

use crate::crypto::Algorithm;
use crate::keys::KeySet;

/// The largest configuration, in bytes: a key set and some more.
const MAXIMUM_CONFIGURATION: usize = 512 << 10;
/// Names of headers that a claim may not be copied to, because they belong to the connection or to the body.
const RESERVED: [&str; 10] = [
    "connection", "content-encoding", "content-length", "content-type", "host", "keep-alive", "te", "trailer", "transfer-encoding",
    "upgrade",
];

/// A claim that is copied to a header.
#[derive(Debug)]
pub struct ClaimHeader {
    pub header: String,
    /// A member of the claims, or a JSON pointer if it begins with `/`.
    pub claim: String,
}

#[derive(Debug)]
pub struct Settings {
    /// Where the keys are fetched; `None` if they are in the configuration.
    pub jwks_url: Option<String>,
    /// The keys in the configuration.
    pub jwks: Option<String>,
    pub issuers: Vec<String>,
    /// Empty: any.
    pub audiences: Vec<String>,
    pub algorithms: Vec<Algorithm>,
    /// The tolerance for the clocks of others, in seconds.
    pub skew: f64,
    pub headers: Vec<ClaimHeader>,
    pub forwards_token: bool,
    pub allows_anonymous: bool,
    pub maximum_token: usize,
    /// The age at which keys are fetched again, while they are still used.
    pub refresh: Duration,
    /// The shortest time between two fetches.
    pub refetch: Duration,
    /// The age at which keys are not used any more.
    pub maximum_age: Duration,
    pub timeout: Duration,
    pub token_header: String,
    pub scheme: String,
}

impl Settings {
    /// Reads a configuration. It checks everything that the schema cannot express.
    pub fn read(config: &Config) -> Result<Settings, Failure> {
        if config.json().len() > MAXIMUM_CONFIGURATION {
            return Err(format!("/: the configuration is larger than {MAXIMUM_CONFIGURATION} bytes; use jwks-url for a large key set").into());
        }
        let seconds = |name: &str, default: u64| -> Result<Duration, Failure> {
            Ok(Duration::from_secs(config.integer(name)?.map_or(default, i64::unsigned_abs)))
        };
        let settings = Settings {
            jwks_url: config.text("jwks-url")?.map(|url| url.into_owned()),
            jwks: config.get("jwks")?.map(|set| set.json().to_owned()),
            issuers: texts(config, "issuer")?,
            audiences: texts(config, "audience")?,
            algorithms: match config.get("algorithms")? {
                None => Algorithm::ALL.to_vec(),
                Some(list) => {
                    let names = list.elements()?;
                    names.iter().filter_map(|name| Algorithm::named(&name.as_text().ok()?)).collect()
                }
            },
            skew: seconds("clock-skew-seconds", 30)?.as_secs_f64(),
            headers: match config.get("headers")? {
                None => Vec::new(),
                Some(map) => map
                    .members()?
                    .into_iter()
                    .map(|(header, claim)| Ok(ClaimHeader { header: header.into_owned(), claim: claim.as_text()?.into_owned() }))
                    .collect::<Result<_, Failure>>()?,
            },
            forwards_token: config.boolean("forward-token")?.unwrap_or(false),
            allows_anonymous: config.boolean("allow-anonymous")?.unwrap_or(false),
            maximum_token: config.integer("maximum-token-bytes")?.and_then(|n| usize::try_from(n).ok()).unwrap_or(8192),
            refresh: seconds("refresh-seconds", 300)?,
            refetch: seconds("refetch-seconds", 10)?,
            maximum_age: seconds("maximum-age-seconds", 86_400)?,
            timeout: seconds("timeout-seconds", 5)?,
            token_header: config.text("token-header")?.map_or("Authorization".into(), |name| name.into_owned()),
            scheme: config.text("scheme")?.map_or("Bearer".into(), |name| name.into_owned()),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Failure> {
        match (&self.jwks_url, &self.jwks) {
            (Some(url), None) => {
                if !is_private(url) {
                    return Err("/jwks-url: http is accepted for loopback addresses only, because anyone on the way could replace the \
                         keys; use https"
                        .into());
                }
            }
            (None, Some(set)) => {
                KeySet::parse(set.as_bytes()).map_err(|problem| format!("/jwks: {problem}"))?;
            }
            (Some(_), Some(_)) => return Err("/jwks: give either jwks-url or jwks, not both".into()),
            (None, None) => return Err("/jwks-url: the keys are missing; give jwks-url or jwks".into()),
        }
        if self.issuers.is_empty() {
            return Err("/issuer: the list is empty; name at least one issuer".into());
        }
        if self.algorithms.is_empty() {
            return Err("/algorithms: the list is empty; name RS256, ES256 or EdDSA".into());
        }
        if self.refresh > self.maximum_age {
            return Err("/refresh-seconds: it is longer than maximum-age-seconds, so keys would not be fetched in time".into());
        }
        if !is_header_name(&self.token_header) {
            return Err("/token-header: this is not a header name; use a name such as Authorization".into());
        }
        for (index, ClaimHeader { header, claim }) in self.headers.iter().enumerate() {
            let place = format!("/headers/{}", header.replace('~', "~0").replace('/', "~1"));
            let is_same = |other: &str| header.eq_ignore_ascii_case(other);
            if !is_header_name(header) {
                return Err(format!("{place}: this is not a header name; use a name such as X-User").into());
            }
            if RESERVED.iter().any(|name| is_same(name)) || is_same(&self.token_header) {
                return Err(format!("{place}: this header has another meaning; use a name such as X-User").into());
            }
            if self.headers[..index].iter().any(|earlier| is_same(&earlier.header)) {
                return Err(format!("{place}: another entry differs only in case; remove one of them").into());
            }
            if claim.is_empty() {
                return Err(format!("{place}: the claim is empty; name a claim such as sub, or a JSON pointer").into());
            }
        }
        Ok(())
    }
}

/// One text, or a list of texts.
fn texts(config: &Config, name: &str) -> Result<Vec<String>, Failure> {
    let Some(value) = config.get(name)? else { return Ok(Vec::new()) };
    match value.as_text() {
        Ok(text) => Ok(vec![text.into_owned()]),
        Err(_) => value.elements()?.iter().map(|item| Ok(item.as_text()?.into_owned())).collect(),
    }
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a response of this URL cannot be changed on its way.
fn is_private(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    let Some(rest) = url.strip_prefix("http://") else { return url.starts_with("https://") };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = if authority.starts_with('[') {
        authority.split_inclusive(']').next().unwrap_or("")
    } else {
        authority.split(':').next().unwrap_or("")
    };
    // A user name in front of the host would be read as the host.
    !authority.contains('@') && ["127.0.0.1", "[::1]", "localhost"].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(extra: &str) -> String {
        let config = format!(r#"{{"issuer":"i","audience":"a"{extra}}}"#);
        Settings::read(&Config::new(&config)).err().map(|failure| failure.message.into_owned()).unwrap_or_default()
    }

    #[test]
    fn mistakes_are_named_by_their_place() {
        for (extra, place) in [
            ("", "/jwks-url: the keys are missing"),
            (r#","jwks-url":"http://example.org/k""#, "/jwks-url: http"),
            (r#","jwks-url":"http://localhost@evil.org/k""#, "/jwks-url: http"),
            (r#","jwks-url":"http://127.0.0.1.evil.org/k""#, "/jwks-url: http"),
            (r#","jwks-url":"https://a/k","jwks":{}"#, "/jwks: give either"),
            (r#","jwks":{"keys":[]}"#, "/jwks: the key set has no key"),
            (r#","jwks-url":"https://a/k","headers":{"a b":"sub"}"#, "/headers/a b: this is not"),
            (r#","jwks-url":"https://a/k","headers":{"authorization":"sub"}"#, "/headers/authorization: this header"),
            (r#","jwks-url":"https://a/k","headers":{"Host":"sub"}"#, "/headers/Host: this header"),
            (r#","jwks-url":"https://a/k","headers":{"X-A":"sub","x-a":"sub"}"#, "/headers/x-a: another"),
            (r#","jwks-url":"https://a/k","refresh-seconds":90000"#, "/refresh-seconds"),
        ] {
            assert!(refusal(extra).starts_with(place), "{extra}: {}", refusal(extra));
        }
        for url in ["http://127.0.0.1:1/k", "http://[::1]/k", "HTTPS://example.org/k", "http://localhost"] {
            assert_eq!(refusal(&format!(r#","jwks-url":"{url}""#)), "");
        }
    }
}
