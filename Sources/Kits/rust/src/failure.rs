//! Verdicts and errors.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::abi::Status;
use crate::values::ErrorFlags;

/// The verdict of a hook. To fail, return an `Err`. To wait, return the value of `later`, `after`, `fetch` or `store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict(pub(crate) i32);

impl Verdict {
    /// Continue with the next stage; staged edits apply.
    pub const CONTINUE: Verdict = Verdict(0);
    /// Respond with the staged result or response; the inner stages are skipped.
    pub const RESPOND: Verdict = Verdict(2);
    /// Discard this event. In a parser's `on_head`: leave the response to the next parser.
    pub const DROP: Verdict = Verdict(3);
    /// Pass this event on and end the stream.
    pub const FINISH: Verdict = Verdict(4);
    /// Start again, as set by `retry`.
    pub const RETRY: Verdict = Verdict(6);
    /// Replace the error with the staged result.
    pub const RECOVER: Verdict = Verdict(7);

    pub(crate) const PENDING: Verdict = Verdict(1);
    pub(crate) const FAIL: Verdict = Verdict(5);
}

/// The return value of every hook.
pub type Answer = Result<Verdict, Failure>;

/// The reason why a hook fails or the host refused a call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Failure {
    /// A description of the failure and of the next step, for people.
    pub message: Cow<'static, str>,
    /// Defined by the plugin. If the host refused a call, its status.
    pub code: i32,
    /// The kind of error.
    pub flags: ErrorFlags,
    /// Details for programs, as JSON text.
    pub detail_json: Option<Cow<'static, str>>,
    /// The HTTP status, 400 to 599, for the gateway's client; 0: the gateway chooses.
    pub http_status: u16,
    /// The delay after which the gateway's client may retry; zero if unknown.
    pub retry_after: Duration,
}

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Failure {
        Failure { message: message.into(), ..Failure::default() }
    }

    /// A copy with a code that the plugin defines.
    pub fn with_code(self, code: i32) -> Failure {
        Failure { code, ..self }
    }

    /// A copy with flags: `Failure::new("asleep").with_flags(ErrorFlags::RETRYABLE)`.
    pub fn with_flags(self, flags: ErrorFlags) -> Failure {
        Failure { flags, ..self }
    }

    /// A copy with details for programs, as JSON text.
    pub fn with_detail(self, json: impl Into<Cow<'static, str>>) -> Failure {
        Failure { detail_json: Some(json.into()), ..self }
    }

    /// A copy with an HTTP status, 400 to 599, for the gateway's client: `Failure::new("slower").with_status(429)`.
    pub fn with_status(self, http_status: u16) -> Failure {
        Failure { http_status, ..self }
    }

    /// A copy with the delay after which the gateway's client may retry.
    pub fn with_retry_after(self, retry_after: Duration) -> Failure {
        Failure { retry_after, ..self }
    }

    pub(crate) fn cancelled() -> Failure {
        Failure::new("the call was cancelled").with_flags(ErrorFlags::CANCELLED)
    }

    pub(crate) fn ending() -> Failure {
        Failure::new("this instance is being destroyed: it starts nothing more")
    }

    pub(crate) fn refused(status: Status, what: &str) -> Failure {
        let meaning = match status {
            -1 => "an argument is malformed",
            -2 => "memory or quota is exhausted",
            -3 => "this host does not do that",
            -4 => "the call is over",
            -5 => "not in this hook, or not declared as needed",
            -6 => "a limit of the host was reached",
            -7 => "another thread is at work on this call",
            -8 => "there is none",
            -9 => "not declared as changed",
            _ => "the host is at fault",
        };
        let message = format!("the host refuses {what}: {meaning} (status {status})");
        Failure::new(message).with_code(status)
    }

    pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> Failure {
        let text = match payload.downcast::<String>().map(|text| Cow::Owned(*text)) {
            Ok(text) => text,
            Err(payload) => match payload.downcast::<&'static str>() {
                Ok(text) => Cow::Borrowed(*text),
                Err(payload) => {
                    // The payload is leaked: a panic in its drop would end the process here.
                    std::mem::forget(payload);
                    Cow::Borrowed("no message")
                }
            },
        };
        Failure::new(format!("the plugin panicked: {text}")).with_flags(ErrorFlags::PLUGIN_FAULT)
    }
}

/// `Ok` for the status OK.
pub(crate) fn check(status: Status, what: &str) -> Result<(), Failure> {
    if status == 0 {
        Ok(())
    } else {
        Err(Failure::refused(status, what))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::new(message)
    }
}

impl From<&'static str> for Failure {
    fn from(message: &'static str) -> Failure {
        Failure::new(message)
    }
}
