//! The declarations of `carabiner.h` in Rust: the same tables in the same order. The sizes at the end are
//! those of the contract.
#![allow(missing_docs)]

use std::ffi::{c_char, c_void};

pub type Status = i32;
pub type Verdict = i32;

pub const OK: Status = 0;
pub const E_INVAL: Status = -1;
pub const E_UNSUPPORTED: Status = -3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    pub ptr: *const u8,
    pub len: usize,
}

#[repr(C)]
pub struct ErrorInfo {
    pub size: u32,
    pub code: i32,
    pub flags: u32,
    pub http_status: i32,
    pub retry_after_ns: u64,
    pub domain: View,
    pub message: View,
    pub detail_json: View,
    pub origin: View,
}

#[repr(C)]
pub struct Header {
    pub name: View,
    pub value: View,
    pub flags: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct Head {
    pub size: u32,
    pub status: u32,
    pub http_version: u32,
    pub attempt: u32,
    pub headers: *const Header,
    pub header_count: usize,
    pub url: View,
}

#[repr(C)]
pub struct Chunk {
    pub size: u32,
    pub flags: u32,
    pub seq: u64,
    pub bytes: View,
}

#[repr(C)]
pub struct ResultInfo {
    pub size: u32,
    pub flags: u32,
    pub seq: u64,
    pub json: View,
    pub data: View,
    pub errors: View,
    pub extensions: View,
    pub path: View,
    pub label: View,
    pub http_status: i32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union Number {
    pub i: i64,
    pub f: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Value {
    pub kind: u32,
    pub reserved: u32,
    pub n: Number,
    pub v: View,
}

const RESULT_HAS_NEXT: u32 = 1 << 1;
const RESULT_INCREMENTAL: u32 = 1 << 2;

/// An event of a hook.
pub trait Event {
    /// The flags that a result in place of this one has: more results may follow it, and it may be a part of a response.
    fn kept_flags(&self) -> u32 {
        0
    }
}
impl Event for Head {}
impl Event for Chunk {}
impl Event for ErrorInfo {}
impl Event for ResultInfo {
    fn kept_flags(&self) -> u32 {
        self.flags & (RESULT_HAS_NEXT | RESULT_INCREMENTAL)
    }
}

pub type RequestHook = unsafe extern "C" fn(*mut c_void, u64, *mut *mut c_void) -> Verdict;
pub type FirstHeadHook = unsafe extern "C" fn(*mut c_void, u64, *mut *mut c_void, *const Head) -> Verdict;
pub type ResultHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const ResultInfo) -> Verdict;
pub type HeadHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const Head) -> Verdict;
pub type ChunkHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const Chunk) -> Verdict;
pub type ErrorHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const ErrorInfo) -> Verdict;
pub type EndHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void) -> Verdict;
pub type CancelHook = unsafe extern "C" fn(*mut c_void, u64, *mut c_void);
pub type ReleaseHook = unsafe extern "C" fn(*mut c_void, *mut c_void);

#[repr(C)]
pub struct GraphQlStage {
    pub size: u32,
    pub needs: u32,
    pub mutates: u32,
    pub reserved: u32,
    pub on_request: Option<RequestHook>,
    pub on_result: Option<ResultHook>,
    pub on_error: Option<ErrorHook>,
    pub on_end: Option<EndHook>,
    pub on_cancel: Option<CancelHook>,
    pub release: Option<ReleaseHook>,
}

#[repr(C)]
pub struct HttpStage {
    pub size: u32,
    pub needs: u32,
    pub mutates: u32,
    pub reserved: u32,
    pub on_request: Option<RequestHook>,
    pub on_head: Option<HeadHook>,
    pub on_chunk: Option<ChunkHook>,
    pub on_error: Option<ErrorHook>,
    pub on_end: Option<EndHook>,
    pub on_cancel: Option<CancelHook>,
    pub release: Option<ReleaseHook>,
}

#[repr(C)]
pub struct CacheStage {
    pub size: u32,
    pub needs: u32,
    pub mutates: u32,
    pub reserved: u32,
    pub on_read: Option<RequestHook>,
    pub on_write: Option<ResultHook>,
    pub on_error: Option<ErrorHook>,
    pub on_end: Option<EndHook>,
    pub on_cancel: Option<CancelHook>,
    pub release: Option<ReleaseHook>,
}

#[repr(C)]
pub struct ParserStage {
    pub size: u32,
    pub needs: u32,
    pub mutates: u32,
    pub reserved: u32,
    pub on_head: Option<FirstHeadHook>,
    pub on_chunk: Option<ChunkHook>,
    pub on_error: Option<ErrorHook>,
    pub on_end: Option<EndHook>,
    pub on_cancel: Option<CancelHook>,
    pub release: Option<ReleaseHook>,
    /// Points to the first character of the text.
    pub accept: Option<&'static c_char>,
}

#[repr(C)]
pub struct CreateInfo {
    pub size: u32,
    pub reserved: u32,
    pub self_: u64,
    pub generation: u64,
    pub entry_name: View,
    pub config_json: View,
    pub origin: View,
}

#[repr(C)]
pub struct Interceptor {
    pub size: u32,
    pub thread_class: u32,
    pub id: *const c_char,
    pub version: *const c_char,
    pub name: *const c_char,
    pub vendor: *const c_char,
    pub url: *const c_char,
    pub config_schema: *const c_char,
    pub graphql: *const GraphQlStage,
    pub http: *const HttpStage,
    pub cache: *const CacheStage,
    pub parser: *const ParserStage,
    pub validate: Option<unsafe extern "C" fn(*const Host, View, *mut ErrorInfo) -> Status>,
    pub create: Option<unsafe extern "C" fn(*const Host, *const CreateInfo, *mut *mut c_void, *mut ErrorInfo) -> Status>,
    pub drain: Option<unsafe extern "C" fn(*mut c_void)>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub extension: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> *const c_void>,
}

#[repr(C)]
pub struct StateTable {
    pub size: u32,
    pub version: u32,
    pub save: Option<unsafe extern "C" fn(*mut c_void, *mut u64, *mut ErrorInfo) -> Status>,
    pub adopt: Option<unsafe extern "C" fn(*mut c_void, u32, View, *mut ErrorInfo) -> Status>,
}

#[repr(C)]
pub struct SelfTestTable {
    pub size: u32,
    pub count: u32,
    pub name: Option<unsafe extern "C" fn(u32) -> *const c_char>,
    pub run: Option<unsafe extern "C" fn(*mut c_void, u32, *mut ErrorInfo) -> Status>,
}

#[repr(C)]
pub struct Plugin {
    pub size: u32,
    pub abi_major: u16,
    pub abi_minor_built: u16,
    pub abi_minor_required: u16,
    pub reserved: u16,
    pub count: u32,
    pub items: *const *const Interceptor,
    pub init: Option<unsafe extern "C" fn(*const Host, View) -> Status>,
    pub deinit: Option<unsafe extern "C" fn()>,
}

#[repr(C)]
pub struct Host {
    pub size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub name: View,
    pub version: View,
    pub features: u64,
    pub self_: u64,
    pub query: unsafe extern "C" fn(u64, *const c_char) -> *const c_void,
    pub buf_alloc: unsafe extern "C" fn(u64, usize, *mut *mut u8) -> u64,
    pub buf_adopt: unsafe extern "C" fn(u64, *const c_void, usize, unsafe extern "C" fn(*mut c_void), *mut c_void) -> u64,
    pub buf_slice: unsafe extern "C" fn(u64, usize, usize) -> u64,
    pub buf_retain: unsafe extern "C" fn(u64) -> Status,
    pub buf_release: unsafe extern "C" fn(u64) -> Status,
    pub buf_view: unsafe extern "C" fn(u64) -> View,
    pub scratch: unsafe extern "C" fn(u64, usize, usize) -> *mut c_void,
    pub suspend: unsafe extern "C" fn(u64) -> u64,
    pub resume: unsafe extern "C" fn(u64, Verdict) -> Status,
    pub cancelled: unsafe extern "C" fn(u64) -> i32,
    pub deadline_ns: unsafe extern "C" fn(u64) -> u64,
    pub attempt: unsafe extern "C" fn(u64) -> u32,
    pub emit: unsafe extern "C" fn(u64, u32, u64, u32) -> Status,
    pub set_error: unsafe extern "C" fn(u64, *const ErrorInfo) -> Status,
    pub set_retry: unsafe extern "C" fn(u64, u32, u64) -> Status,
    pub set_head: unsafe extern "C" fn(u64, *const Head) -> Status,
    pub operation_type: unsafe extern "C" fn(u64) -> u32,
    pub request_id: unsafe extern "C" fn(u64) -> u64,
    pub headers: unsafe extern "C" fn(u64, *mut *const Header, *mut usize) -> Status,
    pub header_get: unsafe extern "C" fn(u64, View, *mut View) -> Status,
    pub header_set: unsafe extern "C" fn(u64, View, View, u32) -> Status,
    pub field_get: unsafe extern "C" fn(u64, u32, *mut View) -> Status,
    pub field_set: unsafe extern "C" fn(u64, u32, u64) -> Status,
    pub key: unsafe extern "C" fn(u64, View) -> u32,
    pub bag_get: unsafe extern "C" fn(u64, u32, *mut Value) -> Status,
    pub bag_set: unsafe extern "C" fn(u64, u32, u32, *const Value) -> Status,
    pub log_enabled: unsafe extern "C" fn(u64, u32) -> i32,
    pub log: unsafe extern "C" fn(u64, u32, u64, View),
}

#[repr(C)]
pub struct TimerService {
    pub size: u32,
    pub reserved: u32,
    pub now_ns: unsafe extern "C" fn() -> u64,
    pub arm: unsafe extern "C" fn(u64, u64, unsafe extern "C" fn(*mut c_void), *mut c_void) -> u64,
    pub cancel: unsafe extern "C" fn(u64) -> Status,
}

#[repr(C)]
pub struct FetchRequest {
    pub size: u32,
    pub flags: u32,
    pub timeout_ns: u64,
    pub method: View,
    pub url: View,
    pub headers: *const Header,
    pub header_count: usize,
    pub body: View,
}

pub type FetchDone = unsafe extern "C" fn(*mut c_void, *const Head, View, *const ErrorInfo);

#[repr(C)]
pub struct FetchService {
    pub size: u32,
    pub reserved: u32,
    pub start: unsafe extern "C" fn(u64, *const FetchRequest, FetchDone, *mut c_void) -> Status,
}

#[repr(C)]
pub struct StoreAnswer {
    pub size: u32,
    pub reserved: u32,
    pub count: u64,
    pub records: View,
}

pub type StoreDone = unsafe extern "C" fn(*mut c_void, *const StoreAnswer, *const ErrorInfo);

#[repr(C)]
pub struct StoreService {
    pub size: u32,
    pub reserved: u32,
    pub load: unsafe extern "C" fn(u64, *const View, usize, StoreDone, *mut c_void) -> Status,
    pub publish: unsafe extern "C" fn(u64, View, StoreDone, *mut c_void) -> Status,
    pub remove: unsafe extern "C" fn(u64, *const View, usize, StoreDone, *mut c_void) -> Status,
    pub remove_matching: unsafe extern "C" fn(u64, View, StoreDone, *mut c_void) -> Status,
}

/// The ELF note.
#[repr(C, align(4))]
pub struct Note {
    pub namesz: u32,
    pub descsz: u32,
    pub kind: u32,
    pub name: [u8; 4],
    pub desc: [u8; 256],
}

/// An ELF note with this text.
pub const fn note(json: &str) -> Note {
    let bytes = json.as_bytes();
    assert!(bytes.len() < 256, "the note's text has at most 255 bytes");
    let mut desc = [0u8; 256];
    let mut index = 0;
    while index < bytes.len() {
        desc[index] = bytes[index];
        index += 1;
    }
    Note { namesz: 4, descsz: 256, kind: u32::from_be_bytes(*b"CRB1"), name: *b"CRB\0", desc }
}

/// A plain pointer in a static. The tables are never written.
#[repr(transparent)]
pub struct Shared<T>(pub T);
// SAFETY: only used for tables that are constant data.
unsafe impl<T> Sync for Shared<T> {}

macro_rules! size_is {
    ($($type:ty: $size:expr),* $(,)?) => { $(const _: () = assert!(std::mem::size_of::<$type>() == $size);)* };
}
#[cfg(target_pointer_width = "64")]
size_is! {
    View: 16, ErrorInfo: 88, Header: 40, Head: 48, Chunk: 32, ResultInfo: 120, Value: 32, GraphQlStage: 64, HttpStage: 72,
    CacheStage: 64, ParserStage: 72, CreateInfo: 72, Interceptor: 128, Plugin: 40, Host: 288, TimerService: 32,
    FetchRequest: 80, FetchService: 16, StoreAnswer: 32, StoreService: 40, Note: 272, StateTable: 24, SelfTestTable: 24,
}
