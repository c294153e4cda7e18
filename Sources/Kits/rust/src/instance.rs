//! Creation and destruction of instances.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::abi::{self, E_INVAL, OK};
use crate::config::Config;
use crate::failure::Failure;
use crate::gate;
use crate::host::Host;
use crate::plugin::{Drain, Plugin, Setup, Validate};
use crate::tasks;
use crate::values::{text, view};

/// The target of the host's instance pointer.
pub struct Instance<P> {
    pub(crate) plugin: P,
    pub(crate) host: Host,
}

thread_local! {
    /// The last reason of a refusal on this thread.
    static REFUSAL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Stores the reason in `why`, for functions that are not hooks and have no call.
///
/// # Safety
/// `why` comes from the host.
pub(crate) unsafe fn refuse(failure: Failure, why: *mut abi::ErrorInfo) {
    // The host reads the reason on this thread after this function has returned, so it is kept until the
    // next refusal here.
    REFUSAL.with(|kept| {
        let mut kept = kept.borrow_mut();
        *kept = failure.message.into_owned();
        if let Some(why) = unsafe { why.as_mut() } {
            why.code = failure.code;
            why.message = view(kept.as_bytes());
        }
    });
}

/// Runs the plugin's code outside of any call. Stores its failure or panic in `why`.
///
/// # Safety
/// `why` comes from the host.
pub(crate) unsafe fn reporting<T>(why: *mut abi::ErrorInfo, body: impl FnOnce() -> Result<T, Failure>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Failure::panicked(payload))) {
        Ok(value) => Some(value),
        Err(failure) => {
            unsafe { refuse(failure, why) };
            None
        }
    }
}

/// # Safety
/// Called by the host, as the header describes.
pub unsafe extern "C" fn create<P: Plugin>(
    _: *const abi::Host,
    info: *const abi::CreateInfo,
    instance: *mut *mut c_void,
    why: *mut abi::ErrorInfo,
) -> i32 {
    let info = unsafe { &*info };
    let host = Host::new(info.self_);
    let made = unsafe {
        reporting(why, || {
            P::new(&Setup {
                host,
                entry_name: text(info.entry_name).unwrap_or(""),
                config: Config::new(text(info.config_json).unwrap_or("{}")),
                generation: info.generation,
                origin: text(info.origin).unwrap_or(""),
            })
        })
    };
    let Some(plugin) = made else {
        // Work that the constructor started must not use an instance that does not exist.
        tasks::close(host.instance, gate::close);
        return E_INVAL;
    };
    unsafe { *instance = Box::into_raw(Box::new(Instance { plugin, host })) as *mut c_void };
    OK
}

/// # Safety
/// See [`create`].
pub unsafe extern "C" fn drain<P: Drain>(instance: *mut c_void) {
    let instance = unsafe { &*(instance as *const Instance<P>) };
    instance.host.contained(|| instance.plugin.drain());
}

/// # Safety
/// See [`create`].
pub unsafe extern "C" fn destroy<P: Plugin>(instance: *mut c_void) {
    let instance = instance as *mut Instance<P>;
    let host = unsafe { (*instance).host };
    // First: the plugin is dropped here, on the host's thread, after everything that holds a part of it.
    tasks::close(host.instance, gate::close);
    host.contained(|| drop(unsafe { Box::from_raw(instance) }));
}

/// # Safety
/// See [`create`].
pub unsafe extern "C" fn validate<P: Validate>(_: *const abi::Host, config_json: abi::View, why: *mut abi::ErrorInfo) -> i32 {
    let answer = unsafe { reporting(why, || P::validate(&Config::new(text(config_json).unwrap_or("{}")))) };
    answer.map_or(E_INVAL, |()| OK)
}
