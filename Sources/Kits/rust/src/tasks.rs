//! The plugin's code that runs outside of hooks. All of it ends before its instance does.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Code that a host timer, request or store operation will run.
pub(crate) struct Waiting {
    pub(crate) code: Box<dyn Any + Send>,
    /// Calls off the timer that will run it; `None` if that cannot be cancelled.
    pub(crate) call_off: Option<Box<dyn Fn() -> bool + Send>>,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<u64, Waiting>,
    running: usize,
    is_closed: bool,
}

/// The tasks of one instance. After `close` has returned, none runs and none holds objects of the plugin.
#[derive(Default)]
pub(crate) struct Tasks {
    state: Mutex<State>,
    idle: Condvar,
}

/// Numbers for instances and tasks. A number is used once.
static NEXT: AtomicU64 = AtomicU64::new(1);
/// The instances of this library.
static INSTANCES: Mutex<BTreeMap<u64, Arc<Tasks>>> = Mutex::new(BTreeMap::new());

fn instances() -> MutexGuard<'static, BTreeMap<u64, Arc<Tasks>>> {
    INSTANCES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The number of a new instance.
pub(crate) fn open() -> u64 {
    let instance = number();
    instances().insert(instance, Arc::default());
    instance
}

/// The tasks of an instance; `None` once it is being destroyed.
pub(crate) fn of(instance: u64) -> Option<Arc<Tasks>> {
    instances().get(&instance).cloned()
}

/// Ends all work of an instance: resumes its hooks with `resume`, drops waiting work and waits for running work.
pub(crate) fn close(instance: u64, resume: impl FnOnce(u64)) {
    let tasks = instances().remove(&instance);
    resume(instance);
    if let Some(tasks) = tasks {
        tasks.close();
    }
}

/// A guard for running code. The end of the instance waits for it.
pub(crate) struct Running(Arc<Tasks>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        if state.running == 0 {
            self.0.idle.notify_all();
        }
    }
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores code under a number. Returns the code once the instance is being destroyed.
    pub(crate) fn lend(&self, task: u64, waiting: Waiting) -> Result<(), Waiting> {
        let mut state = self.state();
        if state.is_closed {
            return Err(waiting);
        }
        state.waiting.insert(task, waiting);
        Ok(())
    }

    /// Takes back waiting code; `None` if it is running, has run or was dropped.
    pub(crate) fn retract(&self, task: u64) -> Option<Waiting> {
        self.state().waiting.remove(&task)
    }

    /// Takes the code that is to run now.
    pub(crate) fn begin(self: &Arc<Self>, task: u64) -> Option<(Waiting, Running)> {
        let mut state = self.state();
        let waiting = state.waiting.remove(&task)?;
        state.running += 1;
        Some((waiting, Running(Arc::clone(self))))
    }

    /// Allows work on the plugin's own threads to run; `None` once the instance is being destroyed.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Running> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        state.running += 1;
        Some(Running(Arc::clone(self)))
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for each in waiting.into_values() {
            if let Some(call_off) = &each.call_off {
                call_off();
            }
            // A panic in a drop cannot be reported here.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(each)));
        }
        let mut state = self.state();
        while state.running > 0 {
            state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The target of the host's pointer while the host may run a task.
pub(crate) struct Ticket {
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) task: u64,
}
