//! What a plugin may have beside its stages: something for the instance that follows it, and tests of its own.

use std::ffi::{c_char, c_void, CStr};

use crate::abi::{self, E_INVAL, E_UNSUPPORTED, OK};
use crate::buffer::Buffer;
use crate::export::Probe;
use crate::failure::Failure;
use crate::instance::{told, Instance};
use crate::plugin::Plugin;
use crate::values::bytes;

/// Hands over what an instance has learnt and the one that follows it need not learn again, say a token it fetched.
///
/// When a new manifest has an entry of the same name with this plugin, the host makes the new instance, lets the old one `save` and
/// the new one `adopt`, and only then sends calls to the new one. An `Err` of either is no fault: the new instance then works as
/// `new` left it, and the host logs why.
pub trait Handover: Plugin {
    /// Of the bytes `save` makes: a larger one when their layout changes.
    const VERSION: u32;

    /// The bytes, at most 16 MiB; `None` if there is nothing to hand over. Calls may be under way meanwhile.
    fn save(&self) -> Result<Option<Vec<u8>>, Failure>;

    /// Takes over, before the first hook. Of a `version` that is newer than [`VERSION`](Self::VERSION) the plugin is not asked.
    /// Another version of the plugin may have written the bytes, or something damaged them: believe no length in them. After an
    /// `Err` the plugin is as `new` left it.
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
        told(why, || match instance.plugin.save()? {
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
        told(why, || {
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

/// A test of what no harness can know, say that a signature is the one of the standard.
pub struct SelfTest<P> {
    /// What it is about, for people.
    pub name: &'static CStr,
    /// Runs it with an instance of its own. `Ok(false)`: it does not apply here. An `Err` says what was found and what is right.
    pub run: fn(&P) -> Result<bool, Failure>,
}

/// Brings tests along, which `carabiner conform` runs where it runs its own checks.
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
        told(why, || match P::TESTS.get(index as usize) {
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
