//! Verdicts and errors.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::abi::Status;
use crate::values::ErrorFlags;

/// What a hook answers. To fail, return an `Err`; to wait, return what `later`, `after` or `fetch` gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict(pub(crate) i32);

impl Verdict {
    /// Go on; staged edits apply.
    pub const CONTINUE: Verdict = Verdict(0);
    /// What was staged is the answer: skip everything further in.
    pub const RESPOND: Verdict = Verdict(2);
    /// Swallow this; in a parser's `on_head`: not mine, ask the next.
    pub const DROP: Verdict = Verdict(3);
    /// Pass this on and end the stream.
    pub const FINISH: Verdict = Verdict(4);
    /// Start again, as `retry` said.
    pub const RETRY: Verdict = Verdict(6);
    /// The staged result takes the error's place.
    pub const RECOVER: Verdict = Verdict(7);

    pub(crate) const PENDING: Verdict = Verdict(1);
    pub(crate) const FAIL: Verdict = Verdict(5);
}

/// What every hook returns.
pub type Answer = Result<Verdict, Failure>;

/// Why a hook fails, or what the host refused.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Failure {
    /// What happened and what to do next, for a person.
    pub message: Cow<'static, str>,
    /// Yours to define; of what the host refused, its status.
    pub code: i32,
    /// What kind of error it is.
    pub flags: ErrorFlags,
    /// Detail for machines, a JSON text.
    pub detail_json: Option<Cow<'static, str>>,
    /// 400 to 599: what a gateway answers its client with; 0 leaves that to the gateway.
    pub http_status: u16,
    /// When a gateway's client may ask again; zero if nobody knows.
    pub retry_after: Duration,
}

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Failure {
        Failure { message: message.into(), ..Failure::default() }
    }

    /// The same with a code of yours.
    pub fn with_code(self, code: i32) -> Failure {
        Failure { code, ..self }
    }

    /// The same with flags: `Failure::new("asleep").with_flags(ErrorFlags::RETRYABLE)`.
    pub fn with_flags(self, flags: ErrorFlags) -> Failure {
        Failure { flags, ..self }
    }

    /// The same with detail for machines, a JSON text.
    pub fn with_detail(self, json: impl Into<Cow<'static, str>>) -> Failure {
        Failure { detail_json: Some(json.into()), ..self }
    }

    /// The same with the status, 400 to 599, that a gateway answers its client with: `Failure::new("slower").with_status(429)`.
    pub fn with_status(self, http_status: u16) -> Failure {
        Failure { http_status, ..self }
    }

    /// The same with the time after which a gateway's client may ask again.
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
                    // A payload whose drop panics would end the process here.
                    std::mem::forget(payload);
                    Cow::Borrowed("no message")
                }
            },
        };
        Failure::new(format!("the plugin panicked: {text}"))
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
