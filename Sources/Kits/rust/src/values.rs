//! Parts of messages, views, and baggage.

use std::ops::BitOr;

use crate::abi::{self, Number, View};

/// A view of bytes that must outlive the view.
pub(crate) fn view(bytes: &[u8]) -> View {
    // Empty bytes are present: a slice's pointer is never NULL.
    View { ptr: bytes.as_ptr(), len: bytes.len() }
}

pub(crate) const ABSENT: View = View { ptr: std::ptr::null(), len: 0 };

/// The bytes behind a view; empty if it is absent.
///
/// # Safety
/// The view comes from the host and is valid for `'a`.
pub(crate) unsafe fn bytes<'a>(view: View) -> &'a [u8] {
    if view.ptr.is_null() {
        &[]
    } else {
        // SAFETY: by contract.
        unsafe { std::slice::from_raw_parts(view.ptr, view.len) }
    }
}

/// The text of a view; `None` if it is absent or not UTF-8.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(view: View) -> Option<&'a str> {
    if view.ptr.is_null() {
        return None;
    }
    // SAFETY: by contract.
    std::str::from_utf8(unsafe { bytes(view) }).ok()
}

/// Parts of a message that a stage reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts(pub(crate) u32);

impl Parts {
    /// Nothing.
    pub const NONE: Parts = Parts(0);
    /// The header fields.
    pub const HEADERS: Parts = Parts(1 << 0);
    /// The body of the HTTP request.
    pub const BODY: Parts = Parts(1 << 1);
    /// The URL of the HTTP request.
    pub const URL: Parts = Parts(1 << 2);
    /// The method of the HTTP request.
    pub const METHOD: Parts = Parts(1 << 3);
    /// The GraphQL document.
    pub const DOCUMENT: Parts = Parts(1 << 4);
    /// The variables, a JSON object.
    pub const VARIABLES: Parts = Parts(1 << 5);
    /// The extensions, a JSON object.
    pub const EXTENSIONS: Parts = Parts(1 << 6);
    /// The operation's name.
    pub const OPERATION_NAME: Parts = Parts(1 << 7);
    /// A result: the whole response object.
    pub const JSON: Parts = Parts(1 << 8);
    /// A result's data.
    pub const DATA: Parts = Parts(1 << 9);
    /// A result's errors.
    pub const ERRORS: Parts = Parts(1 << 10);
    /// The bytes of the response's body.
    pub const CHUNK: Parts = Parts(1 << 11);

    /// Both; for constants, where `|` cannot be used.
    pub const fn and(self, other: Parts) -> Parts {
        Parts(self.0 | other.0)
    }

    #[doc(hidden)]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for Parts {
    type Output = Parts;

    fn bitor(self, other: Parts) -> Parts {
        self.and(other)
    }
}

/// The type of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A query.
    Query,
    /// A mutation.
    Mutation,
    /// A subscription.
    Subscription,
    /// The call is over.
    Unknown,
}

/// An interned baggage key: [`Host::key`](crate::Host::key) makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub(crate) u32);

/// Where a baggage value is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// To the stages further in; undone on the way out.
    Inner = 0,
    /// To every stage, both ways, for the rest of the call.
    Call = 1,
}

/// A baggage value. Text, bytes and JSON are borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Hides the current value.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// JSON text.
    Json(&'a str),
}

impl<'a> Value<'a> {
    pub(crate) fn to_raw(self) -> abi::Value {
        let mut raw = abi::Value { kind: 0, reserved: 0, n: Number { i: 0 }, v: ABSENT };
        match self {
            Value::None => {}
            Value::Bool(value) => (raw.kind, raw.n) = (1, Number { i: i64::from(value) }),
            Value::Integer(value) => (raw.kind, raw.n) = (2, Number { i: value }),
            Value::Real(value) => (raw.kind, raw.n) = (3, Number { f: value }),
            Value::Text(value) => (raw.kind, raw.v) = (4, view(value.as_bytes())),
            Value::Bytes(value) => (raw.kind, raw.v) = (5, view(value)),
            Value::Json(value) => (raw.kind, raw.v) = (6, view(value.as_bytes())),
        }
        raw
    }

    /// # Safety
    /// The value comes from the host and is valid for `'a`.
    pub(crate) unsafe fn from_raw(raw: &abi::Value) -> Value<'a> {
        // SAFETY: every bit pattern is a valid integer and float; the view is valid by contract.
        unsafe {
            match raw.kind {
                1 => Value::Bool(raw.n.i != 0),
                2 => Value::Integer(raw.n.i),
                3 => Value::Real(raw.n.f),
                4 => text(raw.v).map_or(Value::None, Value::Text),
                5 => Value::Bytes(bytes(raw.v)),
                6 => text(raw.v).map_or(Value::None, Value::Json),
                _ => Value::None,
            }
        }
    }
}

/// The kind of error, `CRB_ERROR_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorFlags(pub(crate) u32);

impl ErrorFlags {
    /// None.
    pub const NONE: ErrorFlags = ErrorFlags(0);
    /// A retry can succeed.
    pub const RETRYABLE: ErrorFlags = ErrorFlags(1 << 0);
    /// Something took too long.
    pub const TIMEOUT: ErrorFlags = ErrorFlags(1 << 1);
    /// The call was cancelled.
    pub const CANCELLED: ErrorFlags = ErrorFlags(1 << 2);
    /// The network failed.
    pub const TRANSPORT: ErrorFlags = ErrorFlags(1 << 3);
    /// The server answered with a status that is an error.
    pub const HTTP_STATUS: ErrorFlags = ErrorFlags(1 << 4);
    /// The response could not be parsed.
    pub const PARSE: ErrorFlags = ErrorFlags(1 << 5);
    /// The cache or the store failed.
    pub const CACHE: ErrorFlags = ErrorFlags(1 << 6);
    /// The GraphQL server refused the operation.
    pub const GRAPHQL: ErrorFlags = ErrorFlags(1 << 7);
    /// A limit was reached.
    pub const LIMIT: ErrorFlags = ErrorFlags(1 << 8);
    /// A plugin broke a rule of `carabiner.h`.
    pub const PLUGIN_FAULT: ErrorFlags = ErrorFlags(1 << 9);

    /// Whether all of these flags are set.
    pub const fn contains(self, flags: ErrorFlags) -> bool {
        self.0 & flags.0 == flags.0
    }
    /// The numbers of the contract.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for ErrorFlags {
    type Output = ErrorFlags;

    fn bitor(self, other: ErrorFlags) -> ErrorFlags {
        ErrorFlags(self.0 | other.0)
    }
}
