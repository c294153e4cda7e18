//! A call inside a hook: the functions of every stage. [`crate::stages`] has those of each kind of stage,
//! and [`crate::later`] those that suspend its hook.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::abi::{self, View};
use crate::buffer::Buffer;
use crate::events::Headers;
use crate::failure::{check, Answer, Failure, Verdict};
use crate::gate::Gate;
use crate::host::{self, Host, Level};
use crate::values::{bytes, view, Key, Operation, Parts, Scope, Value, ABSENT};

/// A call inside a hook or inside the work of a suspended hook. `Kind` is the kind of stage: write `graphql::Call` and so on.
///
/// Borrowed values are valid until the hook ends. After a hook was suspended, every further use of its call fails.
pub struct Call<Kind: 'static> {
    pub(crate) handle: u64,
    pub(crate) host: Host,
    pub(crate) gate: Option<Arc<Gate>>,
    /// The flags of a result that replaces the current one.
    pub(crate) result_flags: u32,
    // Not Send: one thread at a time.
    kind: PhantomData<*mut Kind>,
}

impl<Kind: 'static> Call<Kind> {
    pub(crate) fn new(handle: u64, host: Host) -> Call<Kind> {
        Call { handle, host, gate: None, result_flags: 0, kind: PhantomData }
    }

    // Facts.

    /// 0 for the first try.
    pub fn attempt(&self) -> u32 {
        // SAFETY: only reads a value, as do the calls below.
        unsafe { (host::table().attempt)(self.handle) }
    }
    /// A number shared by all stages of one call.
    pub fn request_id(&self) -> u64 {
        unsafe { (host::table().request_id)(self.handle) }
    }
    /// The type of the operation.
    pub fn operation(&self) -> Operation {
        match unsafe { (host::table().operation_type)(self.handle) } {
            1 => Operation::Query,
            2 => Operation::Mutation,
            3 => Operation::Subscription,
            _ => Operation::Unknown,
        }
    }
    /// Also true when the call is over.
    pub fn is_cancelled(&self) -> bool {
        unsafe { (host::table().cancelled)(self.handle) != 0 }
    }
    /// The deadline of the call on the host's clock; `None` if there is none.
    pub fn deadline(&self) -> Option<Duration> {
        let deadline = unsafe { (host::table().deadline_ns)(self.handle) };
        (deadline != u64::MAX).then(|| Duration::from_nanos(deadline))
    }
    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }
    /// Writes one line about this call to the host's log.
    pub fn log(&self, level: Level, line: &str) {
        self.host.log_for(self.handle, level, line);
    }

    // Reading.

    /// A part of the message, or nothing if it is absent.
    pub fn part(&self, part: Parts) -> Result<Option<&[u8]>, Failure> {
        let mut out = ABSENT;
        // SAFETY: the host fills `out`, which is valid until the hook ends.
        unsafe { found((host::table().field_get)(self.handle, part.0, &mut out), out, "a look at a part of the message") }
    }
    pub(crate) fn text_part(&self, part: Parts) -> Result<Option<&str>, Failure> {
        self.part(part)?.map(as_text).transpose()
    }
    /// The first value of a header, by case-insensitive name.
    pub fn header(&self, name: &str) -> Result<Option<&str>, Failure> {
        let mut out = ABSENT;
        // SAFETY: as above.
        let status = unsafe { (host::table().header_get)(self.handle, view(name.as_bytes()), &mut out) };
        unsafe { found(status, out, "a look at a header") }?.map(as_text).transpose()
    }
    /// All header fields.
    pub fn headers(&self) -> Result<Headers<'_>, Failure> {
        let (mut fields, mut count) = (std::ptr::null(), 0);
        // SAFETY: the host fills both, and they are valid until the hook ends.
        unsafe {
            check((host::table().headers)(self.handle, &mut fields, &mut count), "a look at the headers")?;
            Ok(Headers::new(fields, count))
        }
    }

    // Baggage.

    /// The innermost visible value of a key.
    pub fn baggage(&self, key: Key) -> Result<Option<Value<'_>>, Failure> {
        let mut out = Value::None.to_raw();
        // SAFETY: the host fills `out`, which is valid until the hook ends.
        unsafe {
            match (host::table().bag_get)(self.handle, key.0, &mut out) {
                -8 => Ok(None),
                status => check(status, "a look at the baggage").map(|()| Some(Value::from_raw(&out))),
            }
        }
    }
    /// Sets a value in a scope.
    pub fn set_baggage(&self, key: Key, scope: Scope, value: Value) -> Result<(), Failure> {
        // SAFETY: the host copies the value.
        check(unsafe { (host::table().bag_set)(self.handle, key.0, scope as u32, &value.to_raw()) }, "the baggage")
    }

    /// Copies bytes into a counted buffer.
    pub fn buffer(&self, bytes: &[u8]) -> Result<Buffer, Failure> {
        Buffer::copying(&self.host, bytes)
    }

    // For the stages.

    pub(crate) fn set_part(&self, part: Parts, bytes: &[u8], what: &str) -> Result<(), Failure> {
        let buffer = self.buffer(bytes)?;
        // SAFETY: the host takes over the reference.
        check(unsafe { (host::table().field_set)(self.handle, part.0, buffer.take()) }, what)
    }
    pub(crate) fn change_header(&self, name: &str, value: Option<&str>, flags: u32) -> Result<(), Failure> {
        let value = value.map_or(ABSENT, |text| view(text.as_bytes()));
        // SAFETY: the host copies both.
        check(unsafe { (host::table().header_set)(self.handle, view(name.as_bytes()), value, flags) }, "the header")
    }
    pub(crate) fn stage(&self, kind: u32, bytes: Buffer, flags: u32) -> Result<(), Failure> {
        // SAFETY: the host takes over the reference.
        check(unsafe { (host::table().emit)(self.handle, kind, bytes.take(), flags) }, "the emitted data")
    }
    pub(crate) fn again(&self, scope: u32, delay: Duration) -> Answer {
        let nanoseconds = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: plain numbers.
        check(unsafe { (host::table().set_retry)(self.handle, scope, nanoseconds) }, "the retry")?;
        Ok(Verdict::RETRY)
    }
    pub(crate) fn set_head_fields(&self, status: u32, headers: &[(&str, &str)]) -> Result<(), Failure> {
        let fields: Vec<abi::Header> = headers
            .iter()
            .map(|(name, value)| abi::Header { name: view(name.as_bytes()), value: view(value.as_bytes()), flags: 0, reserved: 0 })
            .collect();
        let head = abi::Head {
            size: std::mem::size_of::<abi::Head>() as u32,
            status,
            http_version: 0,
            attempt: 0,
            headers: fields.as_ptr(),
            header_count: fields.len(),
            url: ABSENT,
        };
        // SAFETY: the host copies the head.
        check(unsafe { (host::table().set_head)(self.handle, &head) }, "the head")
    }
}

/// # Safety
/// `view` comes from the host and is valid for `'a`.
unsafe fn found<'a>(status: i32, view: View, what: &str) -> Result<Option<&'a [u8]>, Failure> {
    match status {
        -8 => Ok(None),
        // SAFETY: by contract.
        _ => check(status, what).map(|()| Some(unsafe { bytes(view) })),
    }
}

fn as_text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| Failure::new("this part of the message is not UTF-8"))
}

/// A call that was cancelled. Another hook of the same call may be running.
pub struct Cancelled {
    pub(crate) handle: u64,
    pub(crate) host: Host,
}

impl Cancelled {
    /// A number shared by all stages of one call.
    pub fn request_id(&self) -> u64 {
        // SAFETY: any thread may ask.
        unsafe { (host::table().request_id)(self.handle) }
    }
    /// Writes one line about this call to the host's log.
    pub fn log(&self, level: Level, line: &str) {
        self.host.log_for(self.handle, level, line);
    }
}
