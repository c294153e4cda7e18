//! Accepts operations with a valid JSON Web Token, and copies claims to headers.

mod base64url;
mod crypto;
mod json;
mod keys;
mod settings;
mod source;
mod token;
mod vectors;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use carabiner::{graphql, Answer, Config, Failure, Handover, Operation, Parts, Plugin, ResultEvent, SelfTest, SelfTests, Setup, Validate, Verdict};

use keys::KeySet;
use settings::Settings;
use source::{KeySource, Plan};
use token::{Claims, Refusal};

/// For each manifest entry.
struct JwtAuth(Arc<Gatekeeper>);

/// The state that hooks and the work of suspended hooks share.
struct Gatekeeper {
    settings: Settings,
    source: KeySource,
}

/// The expiry of a call's token, as the bits of a number of seconds since 1970; 0 for none. The work of a suspended hook writes to it
/// too.
type Expiry = Arc<AtomicU64>;

impl Plugin for JwtAuth {
    fn new(setup: &Setup) -> Result<Self, Failure> {
        let settings = Settings::read(&setup.config)?;
        let source = KeySource::new(setup.host, &settings)?;
        Ok(JwtAuth(Arc::new(Gatekeeper { settings, source })))
    }
}

impl Validate for JwtAuth {
    fn validate(config: &Config) -> Result<(), Failure> {
        Settings::read(config).map(|_| ())
    }
}

impl graphql::Stage for JwtAuth {
    type State = Expiry;
    // A stage that reads results needs a part of them. Errors are absent from most.
    const NEEDS: Parts = Parts::HEADERS.and(Parts::ERRORS);
    const MUTATES: Parts = Parts::HEADERS;

    fn on_request(&self, call: &mut graphql::Call, expiry: &mut Expiry) -> Answer {
        let keys = self.0.source.current();
        match self.0.admit(call, keys.as_deref(), expiry)? {
            Admission::Granted => Ok(Verdict::CONTINUE),
            Admission::NeedsKeys(failure) => match self.0.source.plan() {
                Plan::Refuse(delay) => Err(refused(failure, delay)),
                plan => {
                    let (gatekeeper, expiry) = (Arc::clone(&self.0), Arc::clone(expiry));
                    let answer = call.later(|later| {
                        let waiting = Arc::clone(&gatekeeper);
                        gatekeeper.source.wait(later, move |call| waiting.admit_finally(call, &expiry));
                    });
                    if plan == Plan::Fetch {
                        Gatekeeper::fetch(&self.0);
                    }
                    answer
                }
            },
        }
    }
}

impl graphql::OnResult for JwtAuth {
    /// A subscription can last longer than its token.
    fn on_result(&self, call: &mut graphql::Call, expiry: &mut Expiry, _: &ResultEvent) -> Answer {
        let expiry = f64::from_bits(expiry.load(Ordering::Relaxed));
        if expiry > 0.0 && call.operation() == Operation::Subscription && now() >= expiry {
            return Err(unauthenticated("the token has expired during the subscription; subscribe again with a new token"));
        }
        Ok(Verdict::CONTINUE)
    }
}

enum Admission {
    Granted,
    /// No key fits. The failure is for the case that no newer keys can be fetched.
    NeedsKeys(Failure),
}

impl Gatekeeper {
    /// Fetches keys. Calls that wait for them are then finished.
    fn fetch(gatekeeper: &Arc<Gatekeeper>) {
        let shared = Arc::clone(gatekeeper);
        gatekeeper.source.fetch(move |response| shared.source.fetched(response));
    }

    /// Decides about a call with these keys, and sets its headers.
    fn admit(self: &Arc<Self>, call: &mut graphql::Call, keys: Option<&KeySet>, expiry: &Expiry) -> Result<Admission, Failure> {
        let claims = match self.token(call)? {
            None if self.settings.allows_anonymous => None,
            None => return Err(unauthenticated("the request has no token; send one in the header that the configuration names")),
            Some(token) if token.len() > self.settings.maximum_token => {
                return Err(unauthenticated("the token is longer than maximum-token-bytes"));
            }
            Some(token) => match keys.map(|keys| token::verify(token, keys, &self.settings, now())) {
                Some(Ok(claims)) => Some(claims),
                Some(Err(Refusal::Invalid(problem))) => return Err(unauthenticated(problem)),
                Some(Err(Refusal::UnknownKey)) => {
                    return Ok(Admission::NeedsKeys(unauthenticated("the key of the token is unknown; get a new token")))
                }
                None => {
                    let failure = Failure::new("there are no keys to verify tokens with; see the log for the last fetch of the key set");
                    return Ok(Admission::NeedsKeys(failure.with_status(503)));
                }
            },
        };
        if claims.is_some() && self.source.is_due() {
            Gatekeeper::fetch(self);
        }
        expiry.store(claims.as_ref().map_or(0.0, |claims| claims.expiry).to_bits(), Ordering::Relaxed);
        self.set_headers(call, claims.as_ref())?;
        Ok(Admission::Granted)
    }

    /// Like `admit`, after a fetch: there is no further one.
    fn admit_finally(self: &Arc<Self>, call: &mut graphql::Call, expiry: &Expiry) -> Answer {
        match self.admit(call, self.source.current().as_deref(), expiry)? {
            Admission::Granted => Ok(Verdict::CONTINUE),
            Admission::NeedsKeys(failure) => Err(refused(failure, self.source.pause())),
        }
    }

    /// The token of a request; `None` if the header is missing.
    fn token<'a>(&self, call: &'a graphql::Call) -> Result<Option<&'a str>, Failure> {
        let fields = call.headers()?;
        let mut fields = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(&self.settings.token_header));
        let Some(field) = fields.next() else { return Ok(None) };
        if fields.next().is_some() {
            return Err(unauthenticated("the request has several headers with a token; send one"));
        }
        let value = std::str::from_utf8(field.value).unwrap_or("").trim();
        if self.settings.scheme.is_empty() {
            return Ok(Some(value));
        }
        match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(&self.settings.scheme) => Ok(Some(token.trim_start())),
            _ => Err(unauthenticated("the header with the token has another scheme than the configuration names")),
        }
    }

    /// Every header of the configuration has the value of its claim or is removed: a client cannot set one.
    fn set_headers(&self, call: &graphql::Call, claims: Option<&Claims>) -> Result<(), Failure> {
        for entry in &self.settings.headers {
            let value = claims.map_or(Ok(None), |claims| claims.header_value(&entry.claim)).map_err(unauthenticated)?;
            match value {
                Some(value) => call.set_header(&entry.header, &value)?,
                None => call.remove_header(&entry.header)?,
            }
        }
        if claims.is_some() && !self.settings.forwards_token {
            call.remove_header(&self.settings.token_header)?;
        }
        Ok(())
    }
}

fn unauthenticated(problem: &'static str) -> Failure {
    Failure::new(problem).with_status(401)
}

/// The final refusal of a call that no key fits. A server without keys may have some later.
fn refused(failure: Failure, delay: Duration) -> Failure {
    if failure.http_status == 503 {
        failure.with_retry_after(delay.max(Duration::from_secs(1)))
    } else {
        failure
    }
}

/// Seconds since 1970. A clock before that is a clock that is not set.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |passed| passed.as_secs_f64())
}

/// Keys are kept across reloads: a reload while the key server is down would otherwise refuse every request.
impl Handover for JwtAuth {
    const VERSION: u32 = 1;

    fn save(&self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.0.source.saved())
    }

    fn adopt(&self, _: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.0.source.adopt(bytes)
    }
}

impl SelfTests for JwtAuth {
    const TESTS: &'static [SelfTest<Self>] = &[
        SelfTest { name: c"RS256: the example of RFC 7515, A.2", run: |_| vectors::holds(&vectors::RS256) },
        SelfTest { name: c"ES256: the example of RFC 7515, A.3", run: |_| vectors::holds(&vectors::ES256) },
        SelfTest { name: c"EdDSA: the example of RFC 8037, A.4", run: |_| vectors::holds(&vectors::EDDSA) },
    ];
}

carabiner::plugin!(
    JwtAuth,
    id: "org.carabiner.jwt-auth",
    version: "1.0.0",
    config_schema: r#"{"type":"object","additionalProperties":false,"required":["issuer","audience"],
      "examples":[{"jwks-url":"https://login.example.org/jwks.json","issuer":"https://login.example.org","audience":"shop",
        "headers":{"X-User":"sub"}}],
      "properties":{
        "jwks-url":{"type":"string","pattern":"^[Hh][Tt][Tt][Pp][Ss]?://[^/]","maxLength":2048},
        "jwks":{"type":"object"},
        "issuer":{"oneOf":[{"type":"string","minLength":1},
          {"type":"array","minItems":1,"maxItems":32,"items":{"type":"string","minLength":1}}]},
        "audience":{"oneOf":[{"type":"string","minLength":1},
          {"type":"array","maxItems":32,"items":{"type":"string","minLength":1}}]},
        "algorithms":{"type":"array","minItems":1,"maxItems":3,"items":{"enum":["RS256","ES256","EdDSA"]}},
        "headers":{"type":"object","maxProperties":32,"additionalProperties":{"type":"string","minLength":1,"maxLength":256}},
        "forward-token":{"type":"boolean"},
        "allow-anonymous":{"type":"boolean"},
        "clock-skew-seconds":{"type":"integer","minimum":0,"maximum":300},
        "maximum-token-bytes":{"type":"integer","minimum":256,"maximum":65536},
        "refresh-seconds":{"type":"integer","minimum":1,"maximum":86400},
        "refetch-seconds":{"type":"integer","minimum":1,"maximum":3600},
        "maximum-age-seconds":{"type":"integer","minimum":1,"maximum":604800},
        "timeout-seconds":{"type":"integer","minimum":1,"maximum":60},
        "token-header":{"type":"string","minLength":1,"maxLength":128},
        "scheme":{"type":"string","maxLength":64,"pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]*$"}}}"#,
    name: "JSON Web Tokens",
    capabilities: ["varies"]
);
