//! Builds the tables of the contract from the traits of a type. The slots of missing hooks stay NULL.

use std::ffi::{c_char, c_void, CStr};
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::abi;
use crate::call::{Call, Cancelled};
use crate::events::{Chunk, ErrorEvent, Head, ResultEvent};
use crate::failure::{Answer, Verdict};
use crate::gate::{self, fail, guarded};
use crate::host;
use crate::instance::Instance;
pub use crate::instance::{create, destroy};
use crate::instance::{drain, validate};
use crate::plugin::{Drain, Plugin, Validate};
use crate::stages::{cache, graphql, http, parser};

/// The first step of the entry function.
pub fn set_host(table: *const abi::Host) {
    host::set_table(table);
}

// -- The functions the host calls

unsafe extern "C" fn release<State>(_: *mut c_void, state: *mut c_void) {
    // A panic in a drop cannot be reported here.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(state as *mut State) })));
}

/// The stage's value after the state word. A zero-sized value is made again for each hook, which costs nothing.
unsafe fn with_state<State: Default>(word: *mut c_void, body: impl FnOnce(&mut State) -> Answer) -> Answer {
    match unsafe { (word as *mut State).as_mut() } {
        Some(state) => body(state),
        None => body(&mut State::default()),
    }
}

/// Runs a hook: provides its call, catches panics, and returns the verdict, or PENDING if it was suspended.
unsafe fn hook<P: Plugin, Kind: 'static>(
    instance: *mut c_void,
    handle: u64,
    body: impl FnOnce(&P, &mut Call<Kind>) -> Answer,
) -> i32 {
    let instance = unsafe { &*(instance as *const Instance<P>) };
    let mut call = Call::new(handle, instance.host);
    let answer = guarded(|| body(&instance.plugin, &mut call));
    if let Some(gate) = call.gate {
        gate.hook_returned(answer.err().as_ref());
        return Verdict::PENDING.0;
    }
    answer.unwrap_or_else(|failure| fail(handle, &failure)).0
}

/// Like [`hook`], for the first hook of a stage: it makes the state.
unsafe fn first_hook<P: Plugin, Kind: 'static, State: Default>(
    instance: *mut c_void,
    handle: u64,
    word: *mut *mut c_void,
    body: impl FnOnce(&P, &mut Call<Kind>, &mut State) -> Answer,
) -> i32 {
    unsafe {
        hook::<P, Kind>(instance, handle, |plugin, call| {
            if (*word).is_null() && std::mem::size_of::<State>() > 0 {
                *word = Box::into_raw(Box::<State>::default()) as *mut c_void;
            }
            with_state(*word, |state| body(plugin, call, state))
        })
    }
}

/// Defines the function of one hook, and the constant that holds it for types that have the hook.
macro_rules! hooks {
    ($(
        $constant:ident: $slot:ident = $trait:path, $stage:path, $function:ident
            ($($pointer:tt)*) $(with $raw:ident: $raw_type:ty as $event:ident)? ;
    )*) => {
        /// The hooks that a type does not have.
        pub trait Lacks {
            $(const $constant: Option<abi::$slot> = None;)*
            const GRAPHQL: Option<(u32, u32)> = None;
            const HTTP: Option<(u32, u32)> = None;
            const CACHE: Option<(u32, u32)> = None;
            const PARSER: Option<(u32, u32)> = None;
            const GRAPHQL_RELEASE: Option<abi::ReleaseHook> = None;
            const HTTP_RELEASE: Option<abi::ReleaseHook> = None;
            const CACHE_RELEASE: Option<abi::ReleaseHook> = None;
            const PARSER_RELEASE: Option<abi::ReleaseHook> = None;
            const STATE: Option<&'static abi::StateTable> = None;
            const SELF_TESTS: Option<&'static abi::SelfTestTable> = None;
            const VALIDATE: Option<unsafe extern "C" fn(*const abi::Host, abi::View, *mut abi::ErrorInfo) -> abi::Status> = None;
            const DRAIN: Option<unsafe extern "C" fn(*mut c_void)> = None;
            const PARSER_ACCEPT: Option<&'static c_char> = None;
        }
        $(hooks!(@one $constant $slot ($trait) ($stage) $function ($($pointer)*) $($raw $raw_type, $event)?);)*
    };
    (@one $constant:ident $slot:ident ($trait:path) ($stage:path) $function:ident (first)) => {
        impl<P: $trait> Probe<P> {
            #[doc(hidden)]
            pub const $constant: Option<abi::$slot> = {
                unsafe extern "C" fn run<P: $trait>(instance: *mut c_void, call: u64, word: *mut *mut c_void) -> i32 {
                    unsafe {
                        first_hook(instance, call, word, |plugin: &P, call, state: &mut <P as $stage>::State| {
                            <P as $trait>::$function(plugin, call, state)
                        })
                    }
                }
                Some(run::<P>)
            };
        }
    };
    (@one $constant:ident $slot:ident ($trait:path) ($stage:path) $function:ident (fresh) $raw:ident $raw_type:ty, $event:ident) => {
        impl<P: $trait> Probe<P> {
            #[doc(hidden)]
            pub const $constant: Option<abi::$slot> = {
                unsafe extern "C" fn run<P: $trait>(
                    instance: *mut c_void, call: u64, word: *mut *mut c_void, $raw: *const $raw_type,
                ) -> i32 {
                    unsafe {
                        first_hook(instance, call, word, |plugin: &P, call, state: &mut <P as $stage>::State| {
                            *state = Default::default();
                            <P as $trait>::$function(plugin, call, state, &$event(&*$raw))
                        })
                    }
                }
                Some(run::<P>)
            };
        }
    };
    (@one $constant:ident $slot:ident ($trait:path) ($stage:path) $function:ident (further) $raw:ident $raw_type:ty, $event:ident) => {
        impl<P: $trait> Probe<P> {
            #[doc(hidden)]
            pub const $constant: Option<abi::$slot> = {
                unsafe extern "C" fn run<P: $trait>(
                    instance: *mut c_void, call: u64, word: *mut c_void, $raw: *const $raw_type,
                ) -> i32 {
                    unsafe {
                        hook(instance, call, |plugin: &P, call| {
                            call.result_flags = abi::Event::kept_flags(&*$raw);
                            with_state(word, |state: &mut <P as $stage>::State| {
                                <P as $trait>::$function(plugin, call, state, &$event(&*$raw))
                            })
                        })
                    }
                }
                Some(run::<P>)
            };
        }
    };
    (@one $constant:ident $slot:ident ($trait:path) ($stage:path) $function:ident (further)) => {
        impl<P: $trait> Probe<P> {
            #[doc(hidden)]
            pub const $constant: Option<abi::$slot> = {
                unsafe extern "C" fn run<P: $trait>(instance: *mut c_void, call: u64, word: *mut c_void) -> i32 {
                    unsafe {
                        hook(instance, call, |plugin: &P, call| {
                            with_state(word, |state: &mut <P as $stage>::State| <P as $trait>::$function(plugin, call, state))
                        })
                    }
                }
                Some(run::<P>)
            };
        }
    };
    (@one $constant:ident $slot:ident ($trait:path) ($stage:path) $function:ident (cancel)) => {
        impl<P: $trait> Probe<P> {
            #[doc(hidden)]
            pub const $constant: Option<abi::$slot> = {
                unsafe extern "C" fn run<P: $trait>(instance: *mut c_void, call: u64, _: *mut c_void) {
                    let instance = unsafe { &*(instance as *const Instance<P>) };
                    let cancelled = Cancelled { handle: call, host: instance.host };
                    instance.host.contained(|| <P as $trait>::$function(&instance.plugin, &cancelled));
                    // Finishes the hook if the plugin has not done so in `on_cancel`.
                    gate::cancel(call);
                }
                Some(run::<P>)
            };
        }
    };
}

unsafe extern "C" fn end_wait(_: *mut c_void, call: u64, _: *mut c_void) {
    gate::cancel(call);
}

/// The on_cancel hook of a type, or a default: a suspended hook must be finished even if the type has no hook of its own.
pub const fn on_cancel(own: Option<abi::CancelHook>) -> Option<abi::CancelHook> {
    match own {
        Some(own) => Some(own),
        None => Some(end_wait),
    }
}

/// Finds out which hooks a type has. If the type has a trait, the constant of `Probe` hides that of [`Lacks`].
pub struct Probe<P>(PhantomData<P>);

impl<P> Lacks for Probe<P> {}

hooks! {
    GRAPHQL_ON_REQUEST: RequestHook = graphql::Stage, graphql::Stage, on_request (first);
    GRAPHQL_ON_RESULT: ResultHook = graphql::OnResult, graphql::Stage, on_result (further) with raw: abi::ResultInfo as ResultEvent;
    GRAPHQL_ON_ERROR: ErrorHook = graphql::OnError, graphql::Stage, on_error (further) with raw: abi::ErrorInfo as ErrorEvent;
    GRAPHQL_ON_END: EndHook = graphql::OnEnd, graphql::Stage, on_end (further);
    GRAPHQL_ON_CANCEL: CancelHook = graphql::OnCancel, graphql::Stage, on_cancel (cancel);
    HTTP_ON_REQUEST: RequestHook = http::Stage, http::Stage, on_request (first);
    HTTP_ON_HEAD: HeadHook = http::OnHead, http::Stage, on_head (further) with raw: abi::Head as Head;
    HTTP_ON_CHUNK: ChunkHook = http::OnChunk, http::Stage, on_chunk (further) with raw: abi::Chunk as Chunk;
    HTTP_ON_ERROR: ErrorHook = http::OnError, http::Stage, on_error (further) with raw: abi::ErrorInfo as ErrorEvent;
    HTTP_ON_END: EndHook = http::OnEnd, http::Stage, on_end (further);
    HTTP_ON_CANCEL: CancelHook = http::OnCancel, http::Stage, on_cancel (cancel);
    CACHE_ON_READ: RequestHook = cache::Stage, cache::Stage, on_read (first);
    CACHE_ON_WRITE: ResultHook = cache::OnWrite, cache::Stage, on_write (further) with raw: abi::ResultInfo as ResultEvent;
    CACHE_ON_CANCEL: CancelHook = cache::OnCancel, cache::Stage, on_cancel (cancel);
    PARSER_ON_HEAD: FirstHeadHook = parser::Stage, parser::Stage, on_head (fresh) with raw: abi::Head as Head;
    PARSER_ON_CHUNK: ChunkHook = parser::OnChunk, parser::Stage, on_chunk (further) with raw: abi::Chunk as Chunk;
    PARSER_ON_ERROR: ErrorHook = parser::OnError, parser::Stage, on_error (further) with raw: abi::ErrorInfo as ErrorEvent;
    PARSER_ON_END: EndHook = parser::OnEnd, parser::Stage, on_end (further);
    PARSER_ON_CANCEL: CancelHook = parser::OnCancel, parser::Stage, on_cancel (cancel);
}

/// The parts that a stage needs and changes, and the function that releases its state.
macro_rules! stage_facts {
    ($($module:ident: $parts:ident, $release:ident;)*) => {
        $(impl<P: $module::Stage> Probe<P> {
            #[doc(hidden)]
            pub const $parts: Option<(u32, u32)> = Some((P::NEEDS.bits(), P::MUTATES.bits()));
            #[doc(hidden)]
            pub const $release: Option<abi::ReleaseHook> = Some(release::<<P as $module::Stage>::State>);
        })*
    };
}
stage_facts! {
    graphql: GRAPHQL, GRAPHQL_RELEASE;
    http: HTTP, HTTP_RELEASE;
    cache: CACHE, CACHE_RELEASE;
    parser: PARSER, PARSER_RELEASE;
}

impl<P: Validate> Probe<P> {
    #[doc(hidden)]
    pub const VALIDATE: Option<unsafe extern "C" fn(*const abi::Host, abi::View, *mut abi::ErrorInfo) -> abi::Status> =
        Some(validate::<P>);
}

impl<P: Drain> Probe<P> {
    #[doc(hidden)]
    pub const DRAIN: Option<unsafe extern "C" fn(*mut c_void)> = Some(drain::<P>);
}

impl<P: parser::Stage> Probe<P> {
    #[doc(hidden)]
    pub const PARSER_ACCEPT: Option<&'static c_char> = match P::ACCEPT {
        // SAFETY: a text of the plugin that lives as long as the library is loaded.
        Some(types) => Some(unsafe { &*types.as_ptr() }),
        None => None,
    };
}

/// Which threads the host may use for the hooks of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Threads {
    /// A separate instance for each call.
    PerCall = 1,
    /// The host runs one hook of the instance at a time.
    Serial = 2,
    /// Hooks of different calls may run at the same time.
    Concurrent = 3,
}

/// The table of the extension with this id, or NULL.
///
/// # Safety
/// `id` is a C string.
pub unsafe fn extension(
    id: *const c_char,
    state: Option<&'static abi::StateTable>,
    tests: Option<&'static abi::SelfTestTable>,
) -> *const c_void {
    match unsafe { CStr::from_ptr(id) }.to_bytes() {
        b"crb.state/1" => state.map_or(std::ptr::null(), |table| table as *const abi::StateTable as *const c_void),
        b"crb.selftest/1" => tests.map_or(std::ptr::null(), |table| table as *const abi::SelfTestTable as *const c_void),
        _ => std::ptr::null(),
    }
}
