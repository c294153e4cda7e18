//! Waiting without blocking: a hook is suspended and finished later on any thread.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::call::Call;
use crate::failure::{Answer, Failure, Verdict};
use crate::fetch::{FetchRequest, FetchResponse};
use crate::gate::{fail, guarded, Gate};
use crate::host::{self, Host};
use crate::store::{StoreAnswer, StoreRequest};

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

impl<Kind: 'static> Call<Kind> {
    /// Suspends this hook. `start` passes it to the code that will finish it. `return call.later(...)`
    pub fn later(&mut self, start: impl FnOnce(Later<Kind>)) -> Answer {
        let later = self.suspend()?;
        start(later);
        Ok(Verdict::PENDING)
    }
    /// Finishes this hook with `work` after a delay. `return call.after(...)`
    pub fn after(&mut self, delay: Duration, work: impl FnOnce(&mut Call<Kind>) -> Answer + Send + 'static) -> Answer {
        self.later(|later| later.after(delay, work))
    }
    /// Finishes this hook with `work` when the response arrives. `return call.fetch(...)`
    pub fn fetch(
        &mut self,
        request: &FetchRequest,
        work: impl FnOnce(&mut Call<Kind>, FetchResponse) -> Answer + Send + 'static,
    ) -> Answer {
        self.later(|later| later.fetch(request, work))
    }
    /// Finishes this hook with `work` when the host's store has returned its result. `return call.store(...)`
    pub fn store(
        &mut self,
        request: &StoreRequest,
        work: impl FnOnce(&mut Call<Kind>, StoreAnswer) -> Answer + Send + 'static,
    ) -> Answer {
        self.later(|later| later.store(request, work))
    }

    fn suspend(&mut self) -> Result<Later<Kind>, Failure> {
        // SAFETY: this thread owns the call.
        let token = unsafe { (host::table().suspend)(self.handle) };
        if token == 0 {
            return Err("the host cannot suspend this hook".into());
        }
        // From here on, only the owner of the Later may use the call. The handle becomes 0, which the host rejects.
        let handle = std::mem::take(&mut self.handle);
        let gate = Gate::new(self.host.instance, handle, token);
        self.gate = Some(Arc::clone(&gate));
        Ok(Later { call: handle, host: self.host, gate: Some(gate), kind: PhantomData })
    }
}

impl<Kind: 'static> Later<Kind> {
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
