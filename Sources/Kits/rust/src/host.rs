//! Functions a plugin may call at any time on any thread: log, clock, timers, its own requests, the host's store.

use std::ffi::{c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::abi;
use crate::failure::Failure;
use crate::tasks::{self, Tasks, Ticket, Waiting};
use crate::values::{view, Key};

static TABLE: AtomicPtr<abi::Host> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn set_table(table: *const abi::Host) {
    TABLE.store(table.cast_mut(), Ordering::Release);
}

pub(crate) fn table() -> &'static abi::Host {
    // SAFETY: the host passes its table to the entry function before anything else and keeps it as long as the process runs.
    unsafe { &*TABLE.load(Ordering::Acquire) }
}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every step.
    Trace = 0,
    /// For debugging.
    Debug = 1,
    /// For operators.
    Info = 2,
    /// Something unexpected.
    Warning = 3,
    /// Something failed.
    Error = 4,
}

/// The host as seen by one instance. Copy it freely.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) self_: u64,
    /// The number of the instance within this library.
    pub(crate) instance: u64,
    pub(crate) timer: Option<&'static abi::TimerService>,
}

fn query<T>(self_: u64, id: &CStr) -> Option<&'static T> {
    // SAFETY: for this id the host returns such a table, and keeps it as long as the process runs.
    unsafe { ((table().query)(self_, id.as_ptr()) as *const T).as_ref() }
}

impl Host {
    /// The host of a new instance. [`tasks::close`] ends it.
    pub(crate) fn new(self_: u64) -> Host {
        Host { self_, instance: tasks::open(), timer: query(self_, c"crb.timer/1") }
    }

    // The service is queried when it is used, because `carabiner check` reports each query without a grant.
    pub(crate) fn fetch_service(&self) -> Option<&'static abi::FetchService> {
        query(self.self_, c"crb.fetch/1")
    }
    pub(crate) fn store_service(&self) -> Option<&'static abi::StoreService> {
        query(self.self_, c"crb.store/1")
    }

    /// The tasks of the instance; a failure once it is being destroyed.
    pub(crate) fn tasks(&self) -> Result<Arc<Tasks>, Failure> {
        tasks::of(self.instance).ok_or_else(Failure::ending)
    }

    /// Whether the log keeps lines of this level. Check it before you format a line.
    pub fn keeps(&self, level: Level) -> bool {
        // SAFETY: only reads a value.
        unsafe { (table().log_enabled)(self.self_, level as u32) != 0 }
    }

    /// Writes one line to the host's log.
    pub fn log(&self, level: Level, line: &str) {
        self.log_for(0, level, line);
    }

    pub(crate) fn log_for(&self, call: u64, level: Level, line: &str) {
        // SAFETY: the host copies the line.
        unsafe { (table().log)(self.self_, level as u32, call, view(line.as_bytes())) };
    }

    /// The clock of deadlines and timers.
    pub fn clock(&self) -> Result<Duration, Failure> {
        let timer = self.timer.ok_or("this host has no timers")?;
        // SAFETY: only reads a value.
        Ok(Duration::from_nanos(unsafe { (timer.now_ns)() }))
    }

    /// The key of a baggage name, such as `org.example.user`. Look it up once and keep it.
    pub fn key(&self, name: &str) -> Result<Key, Failure> {
        // SAFETY: the host copies the name.
        match unsafe { (table().key)(self.self_, view(name.as_bytes())) } {
            0 => Err(format!("the host takes no baggage key {name}").into()),
            key => Ok(Key(key)),
        }
    }

    /// Lends code to the host, which runs it once if `start` returns OK. Otherwise the code is returned, unless the instance has
    /// ended.
    pub(crate) fn lend<Code: Send + 'static>(
        &self,
        code: Code,
        start: impl FnOnce(*mut c_void) -> Result<(), Failure>,
    ) -> Result<(), (Failure, Option<Code>)> {
        let own = |waiting: Waiting| waiting.code.downcast::<Code>().ok().map(|code| *code);
        let tasks = match self.tasks() {
            Ok(tasks) => tasks,
            Err(failure) => return Err((failure, Some(code))),
        };
        let task = tasks::number();
        tasks.lend(task, Waiting { code: Box::new(code), call_off: None }).map_err(|code| (Failure::ending(), own(code)))?;
        let user = Box::into_raw(Box::new(Lent { host: *self, ticket: Ticket { tasks: Arc::clone(&tasks), task } }));
        start(user as *mut c_void).map_err(|failure| {
            // SAFETY: made above, and the host did not accept it.
            drop(unsafe { Box::from_raw(user) });
            (failure, tasks.retract(task).and_then(own))
        })
    }

    /// Runs the plugin's code outside of any hook and logs its panics.
    pub(crate) fn contained(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.log(Level::Error, &Failure::panicked(payload).message);
        }
    }
}

/// The target of the host's pointer while the host may run lent code.
pub(crate) struct Lent {
    pub(crate) host: Host,
    pub(crate) ticket: Ticket,
}
