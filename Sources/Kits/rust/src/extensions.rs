//! Optional functions besides the stages: state that the next instance receives, and self-tests.

use std::ffi::{c_char, c_void, CStr};

use crate::abi::{self, E_INVAL, E_UNSUPPORTED, OK};
use crate::buffer::Buffer;
use crate::export::Probe;
use crate::failure::Failure;
use crate::instance::{reporting, Instance};
use crate::plugin::Plugin;
use crate::values::bytes;

/// Hands state, for example a fetched token, to the next instance.
///
/// When a new manifest has an entry of the same name with this plugin, the host makes the new instance, calls `save` on the old one
/// and `adopt` on the new one, and only then sends calls to the new one. An `Err` of either function is logged, and the new
/// instance works as `new` left it.
pub trait Handover: Plugin {
    /// The version of the byte layout: increase it when the layout changes.
    const VERSION: u32;

    /// The bytes, at most 16 MiB; `None` if there is nothing to hand over. Calls can be running meanwhile.
    fn save(&self) -> Result<Option<Vec<u8>>, Failure>;

    /// Takes over the state before the first hook. It is not called with a `version` newer than [`VERSION`](Self::VERSION). The
    /// bytes can come from another version of the plugin or be damaged: check every length in them. After an `Err` the plugin must
    /// be as `new` left it.
    fn adopt(&self, version: u32, bytes: &[u8]) -> Result<(), Failure>;
}

impl<P: Handover> Probe<P> {
    #[doc(hidden)]
    pub const STATE: Option<&'static abi::StateTable> = Some(&abi::StateTable {
        size: std::mem::size_of::<abi::StateTable>() as u32,
        version: P::VERSION,
        save: Some(save::<P>),
        adopt: Some(adopt::<P>),
    });
}

unsafe extern "C" fn save<P: Handover>(instance: *mut c_void, target: *mut u64, why: *mut abi::ErrorInfo) -> i32 {
    let instance = unsafe { &*(instance as *const Instance<P>) };
    let saved = unsafe {
        reporting(why, || match instance.plugin.save()? {
            Some(bytes) => Buffer::adopting(&instance.host, bytes).map(Some),
            None => Ok(None),
        })
    };
    match saved {
        Some(Some(buffer)) => unsafe { *target = buffer.take() },
        Some(None) => {}
        None => return E_INVAL,
    }
    OK
}

unsafe extern "C" fn adopt<P: Handover>(
    instance: *mut c_void,
    version: u32,
    saved: abi::View,
    why: *mut abi::ErrorInfo,
) -> i32 {
    let instance = unsafe { &*(instance as *const Instance<P>) };
    let is_newer = version > P::VERSION;
    let adopted = unsafe {
        reporting(why, || {
            if is_newer {
                return Err(Failure::new(format!("a newer version wrote this state: its layout is {version}, and {} is known", P::VERSION)));
            }
            instance.plugin.adopt(version, bytes(saved))
        })
    };
    match adopted {
        Some(()) => OK,
        None if is_newer => E_UNSUPPORTED,
        None => E_INVAL,
    }
}

/// A test of something only the plugin can check, for example that a signature follows its standard.
pub struct SelfTest<P> {
    /// A description for people.
    pub name: &'static CStr,
    /// Runs the test with its own instance. `Ok(false)`: the test does not apply here. An `Err` has the actual and the expected
    /// result.
    pub run: fn(&P) -> Result<bool, Failure>,
}

/// Adds self-tests, which `carabiner conform` runs together with its own checks.
pub trait SelfTests: Plugin {
    /// The tests.
    const TESTS: &'static [SelfTest<Self>];
}

impl<P: SelfTests> Probe<P> {
    #[doc(hidden)]
    pub const SELF_TESTS: Option<&'static abi::SelfTestTable> = Some(&abi::SelfTestTable {
        size: std::mem::size_of::<abi::SelfTestTable>() as u32,
        count: P::TESTS.len() as u32,
        name: Some(name::<P>),
        run: Some(run::<P>),
    });
}

unsafe extern "C" fn name<P: SelfTests>(index: u32) -> *const c_char {
    P::TESTS.get(index as usize).map_or(std::ptr::null(), |test| test.name.as_ptr())
}

unsafe extern "C" fn run<P: SelfTests>(instance: *mut c_void, index: u32, why: *mut abi::ErrorInfo) -> i32 {
    let instance = unsafe { &*(instance as *const Instance<P>) };
    let outcome = unsafe {
        reporting(why, || match P::TESTS.get(index as usize) {
            Some(test) => (test.run)(&instance.plugin),
            None => Err(Failure::new(format!("there is no test {index}"))),
        })
    };
    match outcome {
        Some(true) => OK,
        Some(false) => E_UNSUPPORTED,
        None => E_INVAL,
    }
}
