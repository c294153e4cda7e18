//! The arguments of hooks: results, heads, chunks and errors. Everything is borrowed from the host until the hook ends.

use crate::abi;
use crate::values::{bytes, text, ErrorFlags};

/// One header field.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The field's name.
    pub name: &'a str,
    /// The field's value, usually but not always UTF-8.
    pub value: &'a [u8],
    /// Logs and traces redact the value.
    pub is_sensitive: bool,
}

/// Header fields in order, including duplicates.
#[derive(Clone, Copy)]
pub struct Headers<'a>(pub(crate) &'a [abi::Header]);

impl<'a> Headers<'a> {
    /// # Safety
    /// Pointer and count come from the host and are valid for `'a`.
    pub(crate) unsafe fn new(fields: *const abi::Header, count: usize) -> Headers<'a> {
        // SAFETY: by contract.
        Headers(if fields.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(fields, count) } })
    }

    /// The first value of a header, by case-insensitive name; `None` if there is none or it is not UTF-8.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        let field = self.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(field.value).ok()
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = Header<'a>> + use<'a> {
        self.0.iter().map(|field| {
            // SAFETY: the views live as long as the array.
            let (name, value) = unsafe { (text(field.name).unwrap_or(""), bytes(field.value)) };
            Header { name, value, is_sensitive: field.flags & 1 != 0 }
        })
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The head of a response. Headers are present if the stage needs them.
pub struct Head<'a>(pub(crate) &'a abi::Head);

impl<'a> Head<'a> {
    /// 100 to 599.
    pub fn status(&self) -> u32 {
        self.0.status
    }
    /// 10, 11, 20 or 30; 0 if unknown.
    pub fn http_version(&self) -> u32 {
        self.0.http_version
    }
    /// 0 for the first try.
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }
    /// The header fields.
    pub fn headers(&self) -> Headers<'a> {
        // SAFETY: they live as long as the head.
        unsafe { Headers::new(self.0.headers, self.0.header_count) }
    }
    /// The URL of the response, after redirects.
    pub fn url(&self) -> &'a str {
        // SAFETY: as above.
        unsafe { text(self.0.url) }.unwrap_or("")
    }
}

/// A piece of a response body.
pub struct Chunk<'a>(pub(crate) &'a abi::Chunk);

impl<'a> Chunk<'a> {
    /// 0, 1, 2 ... within this response.
    pub fn seq(&self) -> u64 {
        self.0.seq
    }
    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        // SAFETY: they live as long as the chunk.
        unsafe { bytes(self.0.bytes) }
    }
}

/// One result as raw JSON. Only the parts that the stage needs are present.
pub struct ResultEvent<'a>(pub(crate) &'a abi::ResultInfo);

// SAFETY, for all of these: the texts live as long as the event.
impl<'a> ResultEvent<'a> {
    /// `CRB_RESULT_*`
    pub fn flags(&self) -> u32 {
        self.0.flags
    }
    /// Whether it was read from a cache.
    pub fn is_cached(&self) -> bool {
        self.0.flags & 1 << 0 != 0
    }
    /// Whether more results follow. For a subscription: whether more results are possible.
    pub fn has_next(&self) -> bool {
        self.0.flags & 1 << 1 != 0
    }
    /// Whether its new data was deferred or streamed.
    pub fn is_incremental(&self) -> bool {
        self.0.flags & 1 << 2 != 0
    }
    /// Whether a plugin made the result instead of a server. Caches do not store such results.
    pub fn is_synthetic(&self) -> bool {
        self.0.flags & 1 << 3 != 0
    }
    /// 0, 1, 2 ... within this call.
    pub fn seq(&self) -> u64 {
        self.0.seq
    }
    /// The HTTP status of the response with this result; 0 if there was no response.
    pub fn http_status(&self) -> i32 {
        self.0.http_status
    }
    /// The whole response object.
    pub fn json(&self) -> Option<&'a str> {
        unsafe { text(self.0.json) }
    }
    /// Its data.
    pub fn data(&self) -> Option<&'a str> {
        unsafe { text(self.0.data) }
    }
    /// Its errors.
    pub fn errors(&self) -> Option<&'a str> {
        unsafe { text(self.0.errors) }
    }
    /// Its extensions.
    pub fn extensions(&self) -> Option<&'a str> {
        unsafe { text(self.0.extensions) }
    }
    /// The path of an incremental result.
    pub fn path(&self) -> Option<&'a str> {
        unsafe { text(self.0.path) }
    }
    /// The label of an incremental result.
    pub fn label(&self) -> Option<&'a str> {
        unsafe { text(self.0.label) }
    }
}

/// The error of an inner stage.
pub struct ErrorEvent<'a>(pub(crate) &'a abi::ErrorInfo);

// SAFETY, for all of these: the texts live as long as the event.
impl<'a> ErrorEvent<'a> {
    /// A code that the domain defines.
    pub fn code(&self) -> i32 {
        self.0.code
    }
    /// The kind of error: `error.flags().contains(ErrorFlags::RETRYABLE)`.
    pub fn flags(&self) -> ErrorFlags {
        ErrorFlags(self.0.flags)
    }
    /// 0 if there was none.
    pub fn http_status(&self) -> i32 {
        self.0.http_status
    }
    /// 0 if unknown.
    pub fn retry_after_ns(&self) -> u64 {
        self.0.retry_after_ns
    }
    /// The namespace of the code, in reverse DNS form.
    pub fn domain(&self) -> &'a str {
        unsafe { text(self.0.domain) }.unwrap_or("")
    }
    /// A description of the error, for people.
    pub fn message(&self) -> &'a str {
        unsafe { text(self.0.message) }.unwrap_or("")
    }
    /// Details for programs, as JSON.
    pub fn detail_json(&self) -> Option<&'a str> {
        unsafe { text(self.0.detail_json) }
    }
    /// The manifest entry that failed.
    pub fn origin(&self) -> &'a str {
        unsafe { text(self.0.origin) }.unwrap_or("")
    }
}
