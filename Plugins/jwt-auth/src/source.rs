//! The source of the keys: the configuration, or a URL that is polled.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use carabiner::graphql::{Call, GraphQl};
use carabiner::{Answer, Failure, FetchRequest, FetchResponse, Host, Later, Level};

use crate::keys::KeySet;
use crate::settings::Settings;

/// How many calls wait for keys at the same time.
const MAXIMUM_WAITING: usize = 1024;
/// The longest time between two tries while the key server fails.
const MAXIMUM_PAUSE: Duration = Duration::from_secs(30);

type Work = Box<dyn FnOnce(&mut Call) -> Answer + Send>;

/// How a call without a fitting key goes on.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Start a fetch and wait for it.
    Fetch,
    /// Wait for the fetch that runs.
    Wait,
    /// Another fetch is too early, or too many calls wait. The time until the next fetch is allowed.
    Refuse(Duration),
}

#[derive(Default)]
struct State {
    keys: Option<Arc<KeySet>>,
    /// When the keys were fetched; `None` for keys of the configuration.
    fetched: Option<Instant>,
    is_fetching: bool,
    /// When the next fetch may start; `None`: at once.
    next: Option<Instant>,
    failures: u32,
    waiting: Vec<(Later<GraphQl>, Work)>,
}

/// The current keys. One fetch at a time serves all calls.
pub struct KeySource {
    host: Host,
    url: Option<String>,
    timeout: Duration,
    refresh: Duration,
    refetch: Duration,
    maximum_age: Duration,
    state: Mutex<State>,
}

impl KeySource {
    pub fn new(host: Host, settings: &Settings) -> Result<KeySource, Failure> {
        let keys = match &settings.jwks {
            None => None,
            Some(set) => Some(Arc::new(KeySet::parse(set.as_bytes()).map_err(|problem| format!("/jwks: {problem}"))?)),
        };
        Ok(KeySource {
            host,
            url: settings.jwks_url.clone(),
            timeout: settings.timeout,
            refresh: settings.refresh,
            refetch: settings.refetch,
            maximum_age: settings.maximum_age,
            state: Mutex::new(State { keys, ..State::default() }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys, unless they are too old.
    pub fn current(&self) -> Option<Arc<KeySet>> {
        let state = self.state();
        let is_old = state.fetched.is_some_and(|fetched| fetched.elapsed() > self.maximum_age);
        state.keys.clone().filter(|_| !is_old)
    }

    /// Decides how to get other keys. After [`Plan::Fetch`] the caller must call [`KeySource::fetch`].
    pub fn plan(&self) -> Plan {
        let mut state = self.state();
        if self.url.is_none() {
            return Plan::Refuse(Duration::ZERO);
        }
        if state.is_fetching {
            if state.waiting.len() >= MAXIMUM_WAITING {
                state.waiting.retain(|(later, _)| later.is_wanted());
            }
            return if state.waiting.len() < MAXIMUM_WAITING { Plan::Wait } else { Plan::Refuse(Duration::ZERO) };
        }
        match state.pause() {
            Duration::ZERO => {
                state.is_fetching = true;
                Plan::Fetch
            }
            pause => Plan::Refuse(pause),
        }
    }

    /// Whether the keys are old enough for a new fetch while they are used. If so, the caller must call [`KeySource::fetch`].
    pub fn is_due(&self) -> bool {
        let mut state = self.state();
        let is_due = !state.is_fetching
            && state.fetched.is_some_and(|fetched| fetched.elapsed() > self.refresh)
            && state.pause().is_zero();
        state.is_fetching |= is_due;
        is_due
    }

    /// The time until the next fetch may start.
    pub fn pause(&self) -> Duration {
        self.state().pause()
    }

    /// Finishes a hook with `work` when the fetch has ended.
    pub fn wait(&self, later: Later<GraphQl>, work: impl FnOnce(&mut Call) -> Answer + Send + 'static) {
        let mut state = self.state();
        if state.is_fetching {
            state.waiting.push((later, Box::new(work)));
        } else {
            drop(state);
            later.finish(work);
        }
    }

    /// Starts a fetch. `done` receives the response; it must call [`KeySource::fetched`].
    pub fn fetch(&self, done: impl FnOnce(Result<FetchResponse, Failure>) + Send + 'static) {
        let mut request = FetchRequest::get(self.url.clone().unwrap_or_default()).header("Accept", "application/json");
        request.timeout = self.timeout;
        if let Err(failure) = self.host.fetch(&request, done) {
            self.fetched(Err(failure));
        }
    }

    /// Takes over the keys of a response, and finishes the waiting calls.
    pub fn fetched(&self, response: Result<FetchResponse, Failure>) {
        let keys = response.map_err(|failure| failure.message.into_owned()).and_then(|response| match response.head.status() {
            200 => KeySet::parse(response.body),
            status => Err(format!("the server answered with status {status}")),
        });
        let (problem, waiting) = {
            let mut state = self.state();
            let now = Instant::now();
            state.is_fetching = false;
            let problem = match keys {
                Ok(keys) => {
                    state.keys = Some(Arc::new(keys));
                    state.fetched = Some(now);
                    state.failures = 0;
                    state.next = now.checked_add(self.refetch);
                    None
                }
                Err(problem) => {
                    // 1, 2, 4 ... seconds.
                    let pause = Duration::from_secs(1 << state.failures.min(5)).min(MAXIMUM_PAUSE);
                    state.failures = state.failures.saturating_add(1);
                    state.next = now.checked_add(pause);
                    Some(problem)
                }
            };
            (problem, std::mem::take(&mut state.waiting))
        };
        if let Some(problem) = problem {
            let line = format!("the keys could not be fetched: {problem}; earlier keys stay in use up to their maximum age");
            self.host.log(Level::Warning, &line);
        }
        for (later, work) in waiting {
            later.finish(work);
        }
    }

    /// The keys with their URL and their age, for the next instance.
    pub fn saved(&self) -> Option<Vec<u8>> {
        let state = self.state();
        let (keys, url) = (state.keys.as_ref()?, self.url.as_ref()?);
        let age = u64::try_from(state.fetched?.elapsed().as_millis()).ok()?;
        Some([&age.to_le_bytes(), &(url.len() as u64).to_le_bytes(), url.as_bytes(), &keys.source].concat())
    }

    /// Takes over saved keys if they are of the same URL.
    pub fn adopt(&self, bytes: &[u8]) -> Result<(), Failure> {
        let damaged = || Failure::new("these bytes are not keys that jwt-auth has saved");
        let number = |at: usize| -> Option<u64> { Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)) };
        let (age, length) = number(0).zip(number(8)).ok_or_else(damaged)?;
        let rest = &bytes[16..];
        let length = usize::try_from(length).ok().filter(|length| *length <= rest.len()).ok_or_else(damaged)?;
        let (url, source) = rest.split_at(length);
        if self.url.as_ref().map(|url| url.as_bytes()) != Some(url) {
            return Err("the key set has another URL than before; its keys are fetched".into());
        }
        let keys = KeySet::parse(source).map_err(|_| damaged())?;
        let fetched = Instant::now().checked_sub(Duration::from_millis(age)).ok_or_else(damaged)?;
        let mut state = self.state();
        state.keys = Some(Arc::new(keys));
        state.fetched = Some(fetched);
        Ok(())
    }
}

impl State {
    fn pause(&self) -> Duration {
        self.next.map_or(Duration::ZERO, |next| next.saturating_duration_since(Instant::now()))
    }
}
