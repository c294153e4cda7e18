//! What a plugin may call at any time and on any thread: the log, the clock, timers, requests of its own, the host's store.

use std::ffi::{c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use crate::abi;
use crate::failure::Failure;
use crate::values::{view, Key};

static TABLE: AtomicPtr<abi::Host> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn set_table(table: *const abi::Host) {
    TABLE.store(table.cast_mut(), Ordering::Release);
}

pub(crate) fn table() -> &'static abi::Host {
    // SAFETY: the host gives its table to the entry function before anything else and keeps it for the life of the process.
    unsafe { &*TABLE.load(Ordering::Acquire) }
}

/// How important a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For following every step.
    Trace = 0,
    /// For finding faults.
    Debug = 1,
    /// For operators.
    Info = 2,
    /// Something is odd.
    Warning = 3,
    /// Something failed.
    Error = 4,
}

/// The host, as an instance sees it: a value to copy and keep.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) self_: u64,
    timer: Option<&'static abi::TimerService>,
    pub(crate) fetch: Option<&'static abi::FetchService>,
    pub(crate) store: Option<&'static abi::StoreService>,
}

impl Host {
    pub(crate) fn new(self_: u64) -> Host {
        fn query<T>(self_: u64, id: &CStr) -> Option<&'static T> {
            // SAFETY: what the host answers for this id is such a table, and it is kept as long as the process.
            unsafe { ((table().query)(self_, id.as_ptr()) as *const T).as_ref() }
        }
        let (timer, fetch) = (query(self_, c"crb.timer/1"), query(self_, c"crb.fetch/1"));
        Host { self_, timer, fetch, store: query(self_, c"crb.store/1") }
    }

    /// Whether a line of this level would be kept: ask before you format.
    pub fn keeps(&self, level: Level) -> bool {
        // SAFETY: a plain question.
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

    /// The clock that deadlines and timers go by.
    pub fn clock(&self) -> Result<Duration, Failure> {
        let timer = self.timer.ok_or("this host has no timers")?;
        // SAFETY: a plain question.
        Ok(Duration::from_nanos(unsafe { (timer.now_ns)() }))
    }

    /// Runs `work` once, on a thread of the host. A panic in it goes to the log.
    pub fn after(&self, delay: Duration, work: impl FnOnce() + Send + 'static) -> Result<Timer, Failure> {
        self.try_after(delay, work).map_err(|(failure, _)| failure)
    }

    /// As [`Host::after`]; if no timer could be armed, the work comes back.
    pub(crate) fn try_after<Work>(&self, delay: Duration, work: Work) -> Result<Timer, (Failure, Work)>
    where
        Work: FnOnce() + Send + 'static,
    {
        unsafe extern "C" fn fire<Work: FnOnce()>(user: *mut c_void) {
            // SAFETY: made below; either this runs or `drop_work`, and once.
            let (host, work) = *unsafe { Box::from_raw(user as *mut (Host, Work)) };
            host.contained(work);
        }
        unsafe fn drop_work<Work>(user: *mut c_void) {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(user as *mut (Host, Work)) });
        }
        let Some(service) = self.timer else { return Err(("this host has no timers".into(), work)) };
        let user = Box::into_raw(Box::new((*self, work)));
        let nanoseconds = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the host calls `fire` at most once, with `user`.
        unsafe {
            match (service.arm)(self.self_, nanoseconds, fire::<Work>, user as *mut c_void) {
                0 => Err(("the host arms no timer: too many are armed".into(), Box::from_raw(user).1)),
                handle => Ok(Timer { handle, service, user: user as *mut c_void, drop: drop_work::<Work> }),
            }
        }
    }

    /// The key of a baggage name, such as `org.example.user`: make it once.
    pub fn key(&self, name: &str) -> Result<Key, Failure> {
        // SAFETY: the host copies the name.
        match unsafe { (table().key)(self.self_, view(name.as_bytes())) } {
            0 => Err(format!("the host takes no baggage key {name}").into()),
            key => Ok(Key(key)),
        }
    }

    /// Runs the plugin's code outside of any hook.
    pub(crate) fn contained(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.log(Level::Error, &Failure::panicked(payload).message);
        }
    }
}

/// One armed timer. Dropping it does not disarm it.
pub struct Timer {
    handle: u64,
    service: &'static abi::TimerService,
    user: *mut c_void,
    drop: unsafe fn(*mut c_void),
}

// SAFETY: the pointer is only followed once the host said that nobody else will, and what it points to is Send.
unsafe impl Send for Timer {}
// SAFETY: there is nothing to do with a shared reference.
unsafe impl Sync for Timer {}

impl Timer {
    /// True if the work will not run; false if it ran or runs.
    pub fn cancel(self) -> bool {
        // SAFETY: OK means that `fire` will not run, so the work is ours again.
        unsafe {
            let is_ours = (self.service.cancel)(self.handle) == 0;
            if is_ours {
                (self.drop)(self.user);
            }
            is_ours
        }
    }
}
