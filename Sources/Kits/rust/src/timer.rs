//! Host timers that fire once or repeatedly.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::abi;
use crate::failure::Failure;
use crate::host::Host;
use crate::tasks::{self, Tasks, Waiting};

type Code = Box<dyn FnMut() + Send>;

#[derive(Default)]
struct State {
    /// 0 while it is not armed.
    handle: u64,
    /// The due time on the host's clock, in nanoseconds.
    due: u64,
    is_cancelled: bool,
    /// Counts how often the timer was armed, so that a late handle is not mistaken for a newer one.
    turn: u64,
}

/// Arms a timer, and arms it again if it repeats.
pub(crate) struct Alarm {
    host: Host,
    service: &'static abi::TimerService,
    tasks: Arc<Tasks>,
    task: u64,
    /// In nanoseconds; 0: the timer fires once.
    interval: u64,
    state: Mutex<State>,
}

impl Alarm {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False if the host cannot arm the timer. Not under the lock, because the timer can fire before the host returns.
    fn arm(self: &Arc<Self>, delay: u64) -> bool {
        let turn = {
            let mut state = self.state();
            state.handle = 0;
            state.turn += 1;
            state.turn
        };
        let user = Arc::into_raw(Arc::clone(self));
        // SAFETY: the host calls `fire` at most once, with its own reference.
        let handle = unsafe {
            let handle = (self.service.arm)(self.host.self_, delay, fire, user as *mut c_void);
            if handle == 0 {
                drop(Arc::from_raw(user));
            }
            handle
        };
        let mut state = self.state();
        if state.turn == turn {
            state.handle = handle;
        }
        handle != 0
    }

    /// Arms the timer for the next due time that has not passed.
    fn arm_again(self: &Arc<Self>) -> bool {
        // SAFETY: only reads a value.
        let now = unsafe { (self.service.now_ns)() };
        let delay = {
            let mut state = self.state();
            if state.is_cancelled {
                return false;
            }
            state.due = state.due.saturating_add(self.interval);
            if state.due <= now {
                state.due = now.saturating_add(self.interval);
            }
            state.due - now
        };
        if !self.arm(delay) {
            return false;
        }
        // Cancelled while it was being armed: `cancel()` has then returned false.
        let is_cancelled = self.state().is_cancelled;
        !(is_cancelled && self.call_off())
    }

    /// True if `fire` will not run.
    pub(crate) fn call_off(self: &Arc<Self>) -> bool {
        let handle = {
            let mut state = self.state();
            state.is_cancelled = true;
            std::mem::take(&mut state.handle)
        };
        // SAFETY: OK means that `fire` will not run, so this function owns its reference.
        unsafe {
            let is_ours = handle != 0 && (self.service.cancel)(handle) == 0;
            if is_ours {
                Arc::decrement_strong_count(Arc::as_ptr(self));
            }
            is_ours
        }
    }

    fn ring(self: &Arc<Self>) {
        let Some((mut waiting, running)) = self.tasks.begin(self.task) else { return };
        let is_over = self.interval > 0 && self.state().is_cancelled;
        if let Some(code) = waiting.code.downcast_mut::<Code>().filter(|_| !is_over) {
            self.host.contained(code);
        }
        // Stored first, so that a timer that fires at once finds it.
        let rest = if self.interval == 0 {
            Some(waiting)
        } else {
            match self.tasks.lend(self.task, waiting) {
                Ok(()) if self.arm_again() => None,
                Ok(()) => self.tasks.retract(self.task),
                Err(waiting) => Some(waiting),
            }
        };
        self.host.contained(|| drop(rest));
        drop(running);
    }
}

unsafe extern "C" fn fire(user: *mut c_void) {
    // SAFETY: made in `arm`. Either this or `call_off` takes the reference, once.
    let alarm = unsafe { Arc::from_raw(user as *const Alarm) };
    alarm.ring();
}

impl Host {
    /// Runs `work` once on a host thread. A panic in it is logged. Waiting work is dropped when the instance ends.
    pub fn after(&self, delay: Duration, work: impl FnOnce() + Send + 'static) -> Result<Timer, Failure> {
        let mut once = Some(work);
        self.start_timer(delay, Duration::ZERO, Box::new(move || if let Some(work) = once.take() { work() }))
    }

    /// Runs `work` repeatedly on a host thread, for the first time after one interval. A panic in it is logged. A run that takes longer
    /// than the interval delays the next one. [`Timer::cancel`] or the end of the instance stops it.
    pub fn every(&self, interval: Duration, work: impl FnMut() + Send + 'static) -> Result<Timer, Failure> {
        if interval.is_zero() {
            return Err("a repeating timer needs an interval above zero".into());
        }
        self.start_timer(interval, interval, Box::new(work))
    }

    fn start_timer(&self, delay: Duration, interval: Duration, code: Code) -> Result<Timer, Failure> {
        let service = self.timer.ok_or("this host has no timers")?;
        let tasks = self.tasks()?;
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let (task, delay) = (tasks::number(), nanoseconds(delay));
        let state = Mutex::default();
        let alarm = Arc::new(Alarm { host: *self, service, tasks, task, interval: nanoseconds(interval), state });
        let of = Arc::clone(&alarm);
        let waiting = Waiting { code: Box::new(code), call_off: Some(Box::new(move || of.call_off())) };
        if alarm.tasks.lend(task, waiting).is_err() {
            return Err(Failure::ending());
        }
        // SAFETY: only reads a value.
        let now = unsafe { (service.now_ns)() };
        alarm.state().due = now.saturating_add(delay);
        if !alarm.arm(delay) {
            drop(alarm.tasks.retract(task));
            return Err("the host arms no timer: too many are armed".into());
        }
        Ok(Timer(alarm))
    }
}

/// One armed timer. Dropping it does not disarm it; the end of the instance does.
pub struct Timer(Arc<Alarm>);

impl Timer {
    /// True if the work will not run, or not again. False if it ran or is running. A repeating timer that is running does not run
    /// again.
    pub fn cancel(self) -> bool {
        let is_ours = self.0.call_off();
        if is_ours {
            drop(self.0.tasks.retract(self.0.task));
        }
        is_ours
    }
}
