//! Waiting without blocking: a hook is suspended and finished later on any thread.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
        flags: failure.flags.bits(),
        http_status: failure.http_status.into(),
        retry_after_ns: failure.retry_after.as_nanos().try_into().unwrap_or(u64::MAX),
        domain: ABSENT,
        message: view(failure.message.as_bytes()),
        detail_json: failure.detail_json.as_ref().map_or(ABSENT, |json| view(json.as_bytes())),
        origin: ABSENT,
    };
    // SAFETY: the host copies the error.
    unsafe { (host::table().set_error)(call, &error) };
    Verdict::FAIL
}

/// Runs the plugin's code and turns a panic into a failure.
pub(crate) fn guarded(hook: impl FnOnce() -> Answer) -> Answer {
    catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(|payload| Err(Failure::panicked(payload)))
}

/// The suspended hooks of this library, by call.
static SUSPENDED: Mutex<BTreeMap<u64, Arc<Gate>>> = Mutex::new(BTreeMap::new());

fn suspended() -> MutexGuard<'static, BTreeMap<u64, Arc<Gate>>> {
    SUSPENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the wait of a call that was cancelled.
pub(crate) fn cancel(call: u64) {
    let gate = suspended().get(&call).cloned();
    if let Some(gate) = gate {
        gate.cancel();
    }
}

/// Ends the waits of an instance that is being destroyed.
pub(crate) fn close(instance: u64) {
    let gates: Vec<Arc<Gate>> = suspended().values().filter(|gate| gate.instance == instance).cloned().collect();
    for gate in gates {
        gate.cancel();
    }
}

/// Drops a value of the plugin. A panic in the drop cannot be reported here.
pub(crate) fn contained_drop<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

/// Decides what finishes a suspended hook: its work or the cancellation of the call, whichever comes first. It also delays the result
/// until the hook has returned, because the views of the hook are valid until then.
pub(crate) struct Gate {
    instance: u64,
    call: u64,
    token: u64,
    state: Mutex<GateState>,
}

struct GateState {
    has_returned: bool,
    work: Work,
}

enum Work {
    /// The hook is not finished.
    Awaited,
    /// The work runs and finishes the hook.
    Running,
    /// The hook is finished but has not returned.
    Ended(Ending),
    /// The host has the result.
    Over,
}

#[derive(Clone, Copy)]
enum Ending {
    Answered(Verdict),
    Cancelled,
}

impl Gate {
    pub(crate) fn new(instance: u64, call: u64, token: u64) -> Arc<Gate> {
        let state = GateState { has_returned: false, work: Work::Awaited };
        let gate = Arc::new(Gate { instance, call, token, state: Mutex::new(state) });
        suspended().insert(call, Arc::clone(&gate));
        // SAFETY: any thread may ask. The call may have been cancelled before the gate existed.
        if unsafe { (host::table().cancelled)(call) } != 0 {
            gate.cancel();
        }
        gate
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resume(&self, ending: Ending) {
        let verdict = match ending {
            Ending::Answered(verdict) => verdict,
            Ending::Cancelled => fail(self.call, &Failure::cancelled()),
        };
        // Before resume: a resumed call may be suspended again at once.
        suspended().remove(&self.call);
        // SAFETY: any thread may do so. A stale token has no effect.
        unsafe { (host::table().resume)(self.token, verdict.0) };
    }

    /// Whether the work may run.
    fn enter(&self) -> bool {
        let mut state = self.state();
        let is_awaited = matches!(state.work, Work::Awaited);
        if is_awaited {
            state.work = Work::Running;
        }
        is_awaited
    }

    fn end(&self, ending: Ending, is_due: impl FnOnce(&Work) -> bool) {
        let mut state = self.state();
        if !is_due(&state.work) {
            return;
        }
        state.work = if state.has_returned { Work::Over } else { Work::Ended(ending) };
        let is_over = state.has_returned;
        drop(state);
        if is_over {
            self.resume(ending);
        }
    }

    fn finish(&self, verdict: Verdict) {
        self.end(Ending::Answered(verdict), |work| matches!(work, Work::Running));
    }

    /// Finishes the hook unless its work is running. Running work ends by itself.
    fn cancel(&self) {
        self.end(Ending::Cancelled, |work| matches!(work, Work::Awaited));
    }

    /// The hook has returned. With a `failure` the hook failed, and the result of the work is too late.
    pub(crate) fn hook_returned(&self, failure: Option<&Failure>) {
        let mut state = self.state();
        state.has_returned = true;
        let ending = match (&state.work, failure) {
            (_, Some(failure)) => Ending::Answered(fail(self.call, failure)),
            (Work::Ended(ending), None) => *ending,
            (_, None) => return,
        };
        state.work = Work::Over;
        drop(state);
        self.resume(ending);
    }
}

/// A suspended hook. Finish it on any thread. If it is dropped unfinished, the call fails. If the call is cancelled, the hook is
/// finished at once and its work does not run.
///
/// It holds no objects of the plugin. Once the destruction of the instance has begun, new work does not run. The end of the instance
/// waits for running work, so the plugin is dropped last, on a host thread.
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

    /// Whether the hook is still waiting: false if the call was cancelled.
    pub fn is_wanted(&self) -> bool {
        // SAFETY: any thread may ask.
        unsafe { (host::table().cancelled)(self.call) == 0 }
    }

    /// Runs `work` on this thread; its return value is the hook's verdict. Values held by `work` are dropped before the hook ends.
    pub fn finish(mut self, work: impl FnOnce(&mut Call<Kind>) -> Answer) {
        let Some(gate) = self.gate.take() else { return };
        let Some(_running) = self.host.tasks().ok().and_then(|tasks| tasks.enter()) else { return };
        if !gate.enter() {
            return;
        }
        let answer = guarded(|| work(&mut Call::new(self.call, self.host)));
        gate.finish(answer.unwrap_or_else(|failure| fail(self.call, &failure)));
    }

    /// Fails the hook.
    pub fn fail(self, failure: impl Into<Failure>) {
        let failure = failure.into();
        self.finish(|_| Err(failure));
    }

    /// Finishes the hook with `work` after the delay.
    pub fn after(self, delay: Duration, work: impl FnOnce(&mut Call<Kind>) -> Answer + Send + 'static) {
        let host = self.host;
        // Either the timer uses it, or the failure if there is no timer.
        let shared = Arc::new(Mutex::new(Some(self)));
        let mine = Arc::clone(&shared);
        let armed = host.after(delay, move || {
            if let Some(later) = take(&shared) {
                later.finish(work);
            }
        });
        let Err(failure) = armed else { return };
        if let Some(later) = take(&mine) {
            later.fail(failure);
        }
    }

    /// Finishes the hook with `work` when the response arrives. A failed request fails the hook.
    pub fn fetch(
        self,
        request: &FetchRequest,
        work: impl FnOnce(&mut Call<Kind>, FetchResponse) -> Answer + Send + 'static,
    ) {
        let host = self.host;
        let started = host.try_fetch(request, move |response| self.finish(|call| work(call, response?)));
        if let Err((failure, Some(done))) = started {
            done(Err(failure));
        }
    }

    /// Finishes the hook with `work` when the store has returned its result. A failed operation fails the hook.
    pub fn store(
        self,
        request: &StoreRequest,
        work: impl FnOnce(&mut Call<Kind>, StoreAnswer) -> Answer + Send + 'static,
    ) {
        let host = self.host;
        let started = host.try_store(request, move |answer| self.finish(|call| work(call, answer?)));
        if let Err((failure, Some(done))) = started {
            done(Err(failure));
        }
    }
}

fn take<T>(shared: &Mutex<Option<T>>) -> Option<T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl<Kind: 'static> Drop for Later<Kind> {
    fn drop(&mut self) {
        let Some(gate) = self.gate.take() else { return };
        let Some(_running) = self.host.tasks().ok().and_then(|tasks| tasks.enter()) else { return };
        if gate.enter() {
            gate.finish(fail(self.call, &"the plugin dropped a suspended hook without finishing it".into()));
        }
    }
}
