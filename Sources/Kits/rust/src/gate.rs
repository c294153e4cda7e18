//! The end of a hook: its failure, or if it is suspended its work or the cancellation of the call, whichever comes first.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi;
use crate::failure::{Answer, Failure, Verdict};
use crate::host;
use crate::values::{view, ABSENT};

/// Stages the error of a hook that fails.
pub(crate) fn fail(call: u64, failure: &Failure) -> Verdict {
    let error = abi::ErrorInfo {
        size: std::mem::size_of::<abi::ErrorInfo>() as u32,
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
    pub(crate) fn enter(&self) -> bool {
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

    pub(crate) fn finish(&self, verdict: Verdict) {
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
