//! Plugins for Carabiner in Rust. Without dependencies; a panic in a hook becomes CRB_FAIL and never leaves the plugin.
//!
//! This version has room for parsers; stages of the other kinds can be written against [`abi`].

pub mod abi;

use abi::{Chunk, CreateInfo, ErrorInfo, Head, Host, View};
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicPtr, Ordering};

static HOST: AtomicPtr<Host> = AtomicPtr::new(std::ptr::null_mut());

#[doc(hidden)]
pub fn set_host(host: *const Host) {
    HOST.store(host as *mut Host, Ordering::Release);
}

fn host() -> &'static Host {
    // SAFETY: the host gives its table to the entry function before anything else and keeps it for the life of the process.
    unsafe { &*HOST.load(Ordering::Acquire) }
}

/// A view of bytes that outlive the call it is made for.
fn view(bytes: &[u8]) -> View {
    View { ptr: bytes.as_ptr(), len: bytes.len() }
}

/// The bytes behind a view; valid until the hook completes.
///
/// # Safety
/// The view must come from the host, in the hook that is under way.
unsafe fn bytes<'a>(view: View) -> &'a [u8] {
    if view.ptr.is_null() {
        &[]
    } else {
        std::slice::from_raw_parts(view.ptr, view.len)
    }
}

/// Who is making this plugin, and how it is configured.
pub struct Setup<'a> {
    pub entry_name: &'a str,
    pub config_json: &'a str,
}

/// The head of a response.
pub struct ResponseHead<'a> {
    pub status: u32,
    head: &'a Head,
}

impl ResponseHead<'_> {
    /// The first value of a header, by case-insensitive name. The stage must declare that it needs headers.
    pub fn header(&self, name: &str) -> Option<&str> {
        if self.head.headers.is_null() {
            return None;
        }
        // SAFETY: pointer and count come from the host and are valid during the hook.
        let headers = unsafe { std::slice::from_raw_parts(self.head.headers, self.head.header_count) };
        headers.iter().find_map(|field| {
            // SAFETY: as above.
            let (key, value) = unsafe { (bytes(field.name), bytes(field.value)) };
            key.eq_ignore_ascii_case(name.as_bytes()).then(|| std::str::from_utf8(value).ok()).flatten()
        })
    }
}

/// A parser: takes responses it understands and turns their bytes into results.
pub trait Parser: Sync + Send + Sized + 'static {
    /// What one response needs while it is read.
    type State: Send;

    fn new(setup: &Setup) -> Result<Self, String>;
    /// A state to read this response with, or nothing if it is for another parser.
    fn accept(&self, head: &ResponseHead) -> Option<Self::State>;
    fn chunk(&self, state: &mut Self::State, bytes: &[u8]) -> Result<(), String>;
    /// The body is complete: the result, a whole GraphQL response in JSON.
    fn end(&self, state: &mut Self::State) -> Result<String, String>;
}

/// An instance as the host holds it.
struct Instance<P> {
    plugin: P,
    self_: u64,
}

fn fail(call: u64, message: &str) -> i32 {
    let empty = View { ptr: std::ptr::null(), len: 0 };
    let error = ErrorInfo {
        size: std::mem::size_of::<ErrorInfo>() as u32,
        code: 0,
        flags: 1 << 4,
        http_status: 0,
        retry_after_ns: 0,
        domain: empty,
        message: view(message.as_bytes()),
        detail_json: empty,
        origin: empty,
    };
    // SAFETY: the host copies the error during the call.
    unsafe { (host().set_error)(call, &error) };
    verdict::FAIL
}

/// What hooks answer.
pub mod verdict {
    pub const CONTINUE: i32 = 0;
    pub const DROP: i32 = 3;
    pub const FAIL: i32 = 5;
}

fn guarded(call: u64, hook: impl FnOnce() -> Result<i32, String>) -> i32 {
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(message)) => fail(call, &message),
        Err(_) => fail(call, "the plugin panicked"),
    }
}

fn emit(call: u64, who: u64, json: &str) -> Result<(), String> {
    let mut target = std::ptr::null_mut();
    // SAFETY: the host fills `target` with room for that many bytes, or answers 0.
    unsafe {
        let buffer = (host().buf_alloc)(who, json.len(), &mut target);
        if buffer == 0 {
            return Err("the host has no memory for the result".into());
        }
        std::ptr::copy_nonoverlapping(json.as_ptr(), target, json.len());
        match (host().emit)(call, 1, buffer, 0) {
            0 => Ok(()),
            status => Err(format!("the host takes no result here (status {status})")),
        }
    }
}

#[doc(hidden)]
pub mod parser_hooks {
    use super::*;

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn create<P: Parser>(
        _: *const Host,
        info: *const CreateInfo,
        instance: *mut *mut c_void,
        why: *mut ErrorInfo,
    ) -> i32 {
        let info = &*info;
        let made = catch_unwind(|| {
            let text = |view| std::str::from_utf8(bytes(view)).map_err(|error| error.to_string());
            P::new(&Setup { entry_name: text(info.entry_name)?, config_json: text(info.config_json)? })
        });
        match made {
            Ok(Ok(plugin)) => {
                *instance = Box::into_raw(Box::new(Instance { plugin, self_: info.self_ })) as *mut c_void;
                0
            }
            Ok(Err(message)) => {
                // The host reads the reason after this returned; a refused plugin is rare enough to leave it where it is.
                (*why).message = view(Box::leak(message.into_boxed_str()).as_bytes());
                -1
            }
            Err(_) => -10,
        }
    }

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn destroy<P: Parser>(instance: *mut c_void) {
        drop(Box::from_raw(instance as *mut Instance<P>));
    }

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn on_head<P: Parser>(
        instance: *mut c_void,
        call: u64,
        state: *mut *mut c_void,
        head: *const Head,
    ) -> i32 {
        let instance = &*(instance as *const Instance<P>);
        let head = &*head;
        guarded(call, || {
            let accepted = instance.plugin.accept(&ResponseHead { status: head.status, head });
            if !(*state).is_null() {
                // A retry brings a new response; what was read of the old one is worthless.
                drop(Box::from_raw(*state as *mut P::State));
                *state = std::ptr::null_mut();
            }
            Ok(match accepted {
                None => verdict::DROP,
                Some(fresh) => {
                    *state = Box::into_raw(Box::new(fresh)) as *mut c_void;
                    verdict::CONTINUE
                }
            })
        })
    }

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn on_chunk<P: Parser>(
        instance: *mut c_void,
        call: u64,
        state: *mut c_void,
        chunk: *const Chunk,
    ) -> i32 {
        let instance = &*(instance as *const Instance<P>);
        guarded(call, || {
            instance.plugin.chunk(&mut *(state as *mut P::State), bytes((*chunk).bytes))?;
            Ok(verdict::CONTINUE)
        })
    }

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn on_end<P: Parser>(instance: *mut c_void, call: u64, state: *mut c_void) -> i32 {
        let instance = &*(instance as *const Instance<P>);
        guarded(call, || {
            let json = instance.plugin.end(&mut *(state as *mut P::State))?;
            emit(call, instance.self_, &json)?;
            Ok(verdict::CONTINUE)
        })
    }

    /// # Safety
    /// Called by the host, as the header says.
    pub unsafe extern "C" fn release<P: Parser>(_: *mut c_void, state: *mut c_void) {
        if !state.is_null() {
            drop(Box::from_raw(state as *mut P::State));
        }
    }
}

/// Exports one parser: its type, id, version and configuration schema, each text a literal.
#[macro_export]
macro_rules! parser_plugin {
    ($plugin:ty, id: $id:literal, version: $version:literal, config_schema: $schema:literal) => {
        #[used]
        #[link_section = ".note.crb"]
        static CRB_NOTE: $crate::abi::Note = $crate::abi::note(concat!(
            "{\"id\":\"", $id, "\",\"version\":\"", $version, "\",\"abi\":[1,0]}"
        ));

        /// The one symbol of the contract.
        ///
        /// # Safety
        /// Called by the host with its table.
        #[no_mangle]
        pub unsafe extern "C" fn crb_entry_v1(host: *const $crate::abi::Host) -> *const $crate::abi::Plugin {
            use $crate::abi::*;
            use $crate::parser_hooks as hooks;
            static PARSER: ParserStage = ParserStage {
                size: std::mem::size_of::<ParserStage>() as u32,
                needs: 1 | 1 << 11,
                mutates: 0,
                reserved: 0,
                on_head: Some(hooks::on_head::<$plugin>),
                on_chunk: Some(hooks::on_chunk::<$plugin>),
                on_error: None,
                on_end: Some(hooks::on_end::<$plugin>),
                on_cancel: None,
                release: Some(hooks::release::<$plugin>),
            };
            static INTERCEPTOR: Shared<Interceptor> = Shared(Interceptor {
                size: std::mem::size_of::<Interceptor>() as u32,
                thread_class: 3,
                id: concat!($id, "\0").as_ptr() as *const std::ffi::c_char,
                version: concat!($version, "\0").as_ptr() as *const std::ffi::c_char,
                name: std::ptr::null(),
                vendor: std::ptr::null(),
                url: std::ptr::null(),
                config_schema: concat!($schema, "\0").as_ptr() as *const std::ffi::c_char,
                graphql: std::ptr::null(),
                http: std::ptr::null(),
                cache: std::ptr::null(),
                parser: &PARSER,
                validate: None,
                create: Some(hooks::create::<$plugin>),
                drain: None,
                destroy: Some(hooks::destroy::<$plugin>),
                extension: None,
            });
            static ITEMS: Shared<[*const Interceptor; 1]> = Shared([&INTERCEPTOR.0]);
            static PLUGIN: Shared<Plugin> = Shared(Plugin {
                size: std::mem::size_of::<Plugin>() as u32,
                abi_major: 1,
                abi_minor_built: 0,
                abi_minor_required: 0,
                reserved: 0,
                count: 1,
                items: ITEMS.0.as_ptr(),
                init: None,
                deinit: None,
            });
            $crate::set_host(host);
            &PLUGIN.0
        }
    };
}
