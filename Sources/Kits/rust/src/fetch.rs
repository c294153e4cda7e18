//! Requests that a plugin makes outside the chain.

use std::ffi::c_void;
use std::time::Duration;

use crate::abi;
use crate::events::{ErrorEvent, Head};
use crate::failure::{check, Failure};
use crate::host::{Host, Lent};
use crate::values::{bytes, view, ABSENT};

/// A request.
#[derive(Clone, Debug, Default)]
pub struct FetchRequest {
    /// http or https.
    pub url: String,
    /// Empty: GET, or POST if there is a body.
    pub method: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
    /// Zero: the host's default.
    pub timeout: Duration,
}

impl FetchRequest {
    /// A GET.
    pub fn get(url: impl Into<String>) -> FetchRequest {
        FetchRequest { url: url.into(), ..FetchRequest::default() }
    }

    /// A POST.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> FetchRequest {
        FetchRequest { url: url.into(), body: Some(body.into()), ..FetchRequest::default() }
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> FetchRequest {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// The response to a request; borrowed while `done` runs.
pub struct FetchResponse<'a> {
    /// Status and headers.
    pub head: Head<'a>,
    /// The whole body.
    pub body: &'a [u8],
}

impl Host {
    /// Makes a request and calls `done` on a host thread. The manifest must grant `fetch`.
    pub fn fetch<Done>(&self, request: &FetchRequest, done: Done) -> Result<(), Failure>
    where
        Done: FnOnce(Result<FetchResponse, Failure>) + Send + 'static,
    {
        self.try_fetch(request, done).map_err(|(failure, _)| failure)
    }

    /// Like [`Host::fetch`]. If the request could not be started, `done` is returned.
    pub(crate) fn try_fetch<Done>(&self, request: &FetchRequest, done: Done) -> Result<(), (Failure, Option<Done>)>
    where
        Done: FnOnce(Result<FetchResponse, Failure>) + Send + 'static,
    {
        unsafe extern "C" fn came<Done: FnOnce(Result<FetchResponse, Failure>) + 'static>(
            user: *mut c_void,
            head: *const abi::Head,
            body: abi::View,
            error: *const abi::ErrorInfo,
        ) {
            // SAFETY: `user` was made below, and this runs once. The views are valid until it
            // returns.
            unsafe {
                let lent = Box::from_raw(user as *mut Lent);
                let Some((waiting, _running)) = lent.ticket.tasks.begin(lent.ticket.task) else { return };
                let Ok(done) = waiting.code.downcast::<Done>() else { return };
                lent.host.contained(move || match (head.as_ref(), error.as_ref()) {
                    (Some(head), _) => done(Ok(FetchResponse { head: Head(head), body: bytes(body) })),
                    (None, Some(error)) => {
                        let event = ErrorEvent(error);
                        done(Err(Failure { code: event.code(), flags: event.flags(), ..event.message().to_string().into() }))
                    }
                    (None, None) => done(Err("the request failed".into())),
                });
            }
        }
        let Some(service) = self.fetch_service() else {
            return Err(("the manifest does not grant this plugin the service fetch; add grants: [fetch]".into(), Some(done)));
        };
        let headers: Vec<abi::Header> = request
            .headers
            .iter()
            .map(|(name, value)| abi::Header { name: view(name.as_bytes()), value: view(value.as_bytes()), flags: 0, reserved: 0 })
            .collect();
        let raw = abi::FetchRequest {
            size: std::mem::size_of::<abi::FetchRequest>() as u32,
            flags: 0,
            timeout_ns: u64::try_from(request.timeout.as_nanos()).unwrap_or(u64::MAX),
            method: view(request.method.as_bytes()),
            url: view(request.url.as_bytes()),
            headers: headers.as_ptr(),
            header_count: headers.len(),
            body: request.body.as_deref().map_or(ABSENT, view),
        };
        // SAFETY: the host copies the request. It calls `came` if and only if it returns OK.
        self.lend(done, |user| unsafe {
            let status = (service.start)(self.self_, &raw, came::<Done>, user);
            check(status, "the request; look at its URL and headers")
        })
    }
}
