//! Waiting without blocking: a hook is suspended, and finished later on any thread.

use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::call::Call;
use crate::failure::{Answer, Failure, Verdict};
use crate::fetch::{FetchRequest, FetchResponse};
use crate::host::{self, Host};
use crate::store::{StoreAnswer, StoreRequest};
use crate::values::{view, ABSENT};

/// Stages the error of a hook that fails.
pub(crate) fn fail(call: u64, failure: &Failure) -> Verdict {
    let error = crate::abi::ErrorInfo {
        size: std::mem::size_of::<crate::abi::ErrorInfo>() as u32,
        code: failure.code,
        flags: failure.flags,
        http_status: 0,
        retry_after_ns: 0,
        domain: ABSENT,
        message: view(failure.message.as_bytes()),
        detail_json: ABSENT,
        origin: ABSENT,
    };
    // SAFETY: the host copies the error.
    unsafe { (host::table().set_error)(call, &error) };
    Verdict::FAIL
}

/// Runs the plugin's code and turns whatever comes of it into an answer.
pub(crate) fn guarded(hook: impl FnOnce() -> Answer) -> Answer {
    catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(|payload| Err(Failure::panicked(payload)))
}

/// Keeps the host from going on before the suspended hook has returned: only then do the views it was given end.
pub(crate) struct Gate {
    token: u64,
    state: Mutex<GateState>,
}

enum GateState {
    /// The hook has not returned, the work not finished.
    Running,
    /// The hook has returned.
    Returned,
    /// The work finished first.
    Finished(Verdict),
    /// The host knows.
    Done,
}

impl Gate {
    pub(crate) fn new(token: u64) -> Arc<Gate> {
        Arc::new(Gate { token, state: Mutex::new(GateState::Running) })
    }

    fn change(&self, change: impl FnOnce(&mut GateState) -> Option<Verdict>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = change(&mut state);
        drop(state);
        if let Some(verdict) = verdict {
            // SAFETY: any thread may do so; a token that is stale by now does no harm.
            unsafe { (host::table().resume)(self.token, verdict.0) };
        }
    }

    /// Whether the host waits for a verdict.
    fn is_open(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*state, GateState::Running | GateState::Returned)
    }

    fn finish(&self, verdict: Verdict) {
        self.change(|state| match state {
            GateState::Running => {
                *state = GateState::Finished(verdict);
                None
            }
            GateState::Returned => {
                *state = GateState::Done;
                Some(verdict)
            }
            GateState::Finished(_) | GateState::Done => None,
        });
    }

    /// The hook returned; `failure` if it failed after all, and then whatever the work brings is too late.
    pub(crate) fn hook_returned(&self, call: u64, failure: Option<&Failure>) {
        self.change(|state| match (&*state, failure) {
            (GateState::Running, Some(failure)) => {
                *state = GateState::Done;
                Some(fail(call, failure))
            }
            (GateState::Running, None) => {
                *state = GateState::Returned;
                None
            }
            (GateState::Finished(verdict), failure) => {
                let verdict = failure.map_or(*verdict, |failure| fail(call, failure));
                *state = GateState::Done;
                Some(verdict)
            }
            (GateState::Returned | GateState::Done, _) => None,
        });
    }
}

/// A suspended hook: finish it on any thread. One that is dropped unfinished fails its call.
pub struct Later<Kind: 'static> {
    call: u64,
    host: Host,
    gate: Option<Arc<Gate>>,
    kind: PhantomData<fn() -> Kind>,
}

impl<Kind: 'static> Later<Kind> {
    pub(crate) fn new(call: u64, host: Host, gate: Arc<Gate>) -> Later<Kind> {
        Later { call, host, gate: Some(gate), kind: PhantomData }
    }

    /// Whether somebody still waits.
    pub fn is_wanted(&self) -> bool {
        // SAFETY: any thread may ask.
        unsafe { (host::table().cancelled)(self.call) == 0 }
    }

    /// Runs `work` here and now; what it answers is the hook's verdict.
    pub fn finish(mut self, work: impl FnOnce(&mut Call<Kind>) -> Answer) {
        let Some(gate) = self.gate.take().filter(|gate| gate.is_open()) else { return };
        let answer = guarded(|| work(&mut Call::new(self.call, self.host)));
        gate.finish(answer.unwrap_or_else(|failure| fail(self.call, &failure)));
    }

    /// Fails the hook.
    pub fn fail(self, failure: impl Into<Failure>) {
        let failure = failure.into();
        self.finish(|_| Err(failure));
    }

    /// Finishes the hook with `work` when the time has come.
    pub fn after(self, delay: Duration, work: impl FnOnce(&mut Call<Kind>) -> Answer + Send + 'static) {
        let host = self.host;
        // Either may end up with it: the timer, or the complaint that there is none.
        let shared = Arc::new(Mutex::new(Some(self)));
        let mine = Arc::clone(&shared);
        let armed = host.try_after(delay, move || {
            if let Some(later) = take(&shared) {
                later.finish(work);
            }
        });
        let Err((failure, _)) = armed else { return };
        if let Some(later) = take(&mine) {
            later.fail(failure);
        }
    }

    /// Finishes the hook with `work` when the response has come; a request that fails, fails the hook.
    pub fn fetch(
        self,
        request: &FetchRequest,
        work: impl FnOnce(&mut Call<Kind>, FetchResponse) -> Answer + Send + 'static,
    ) {
        let host = self.host;
        let started = host.try_fetch(request, move |response| self.finish(|call| work(call, response?)));
        if let Err((failure, done)) = started {
            done(Err(failure));
        }
    }

    /// Finishes the hook with `work` when the store has answered; an operation that fails, fails the hook.
    pub fn store(
        self,
        request: &StoreRequest,
        work: impl FnOnce(&mut Call<Kind>, StoreAnswer) -> Answer + Send + 'static,
    ) {
        let host = self.host;
        let started = host.try_store(request, move |answer| self.finish(|call| work(call, answer?)));
        if let Err((failure, done)) = started {
            done(Err(failure));
        }
    }
}

fn take<T>(shared: &Mutex<Option<T>>) -> Option<T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl<Kind: 'static> Drop for Later<Kind> {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.finish(fail(self.call, &"the plugin let go of a suspended hook without finishing it".into()));
        }
    }
}
