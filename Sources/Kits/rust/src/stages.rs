//! The four kinds of stages: what their calls can do, and their hooks.

use std::ffi::CStr;
use std::time::Duration;

use crate::buffer::Buffer;
use crate::call::Call;
use crate::events::{Chunk, ErrorEvent, Head, ResultEvent};
use crate::failure::{Answer, Failure, Verdict};
use crate::plugin::Plugin;
use crate::values::Parts;

const EMIT_RESULT: u32 = 1;
const EMIT_CHUNK: u32 = 2;
const RESULT_CACHE: u32 = 1 << 0;
const RESULT_HAS_NEXT: u32 = 1 << 1;
const RESULT_INCREMENTAL: u32 = 1 << 2;
const RESULT_SYNTHETIC: u32 = 1 << 3;
const RETRY_STAGE: u32 = 1;
const RETRY_CHAIN: u32 = 2;
const HEADER_APPEND: u32 = 1 << 8;

/// What every kind of stage has, but for its first hook.
macro_rules! stage {
    ($kind:ident, $($first:tt)*) => {
        /// What makes a call one of this kind of stage.
        pub struct $kind;
        /// A call in a hook of this kind of stage.
        pub type Call = crate::call::Call<$kind>;
        /// A call that was cancelled.
        pub use crate::call::Cancelled;

        /// A stage of this kind, with its first hook.
        pub trait Stage: Plugin {
            /// The stage's own value for one call; it survives retries. `()` costs nothing.
            type State: Default + Send + 'static;
            /// What the stage reads.
            const NEEDS: Parts = Parts::NONE;
            /// What the stage may change.
            const MUTATES: Parts = Parts::NONE;

            $($first)*
        }

        /// For stages that want to know of a call's cancellation.
        pub trait OnCancel: Stage {
            /// Wake whoever waits and return. Another hook of the same call may be under way.
            fn on_cancel(&self, call: &Cancelled);
        }
    };
}

/// Hooks of stages a message passes.
macro_rules! tail {
    () => {
        /// For stages that want to know what failed further in.
        pub trait OnError: Stage {
            /// Something further in failed; an `Err` takes the error's place.
            fn on_error(&self, call: &mut Call, state: &mut Self::State, error: &ErrorEvent) -> Answer;
        }

        /// For stages that want to know the end.
        pub trait OnEnd: Stage {
            /// Nothing more will come from further in.
            fn on_end(&self, call: &mut Call, state: &mut Self::State) -> Answer;
        }
    };
}

/// The parts of an operation.
macro_rules! operation_parts {
    () => {
        /// Nothing for an anonymous operation.
        pub fn operation_name(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::OPERATION_NAME)
        }
        /// The GraphQL document.
        pub fn document(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::DOCUMENT)
        }
        /// The variables, a JSON object.
        pub fn variables(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::VARIABLES)
        }
        /// The extensions, a JSON object.
        pub fn extensions(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::EXTENSIONS)
        }
    };
}

/// Changing headers.
macro_rules! header_edits {
    () => {
        /// Sets a header: one field with this name remains.
        pub fn set_header(&self, name: &str, value: &str) -> Result<(), Failure> {
            self.change_header(name, Some(value), 0)
        }
        /// Adds a header to those already there.
        pub fn add_header(&self, name: &str, value: &str) -> Result<(), Failure> {
            self.change_header(name, Some(value), HEADER_APPEND)
        }
        /// Removes all fields with this name.
        pub fn remove_header(&self, name: &str) -> Result<(), Failure> {
            self.change_header(name, None, 0)
        }
    };
}

/// GraphQL stages see requests and results.
pub mod graphql {
    use super::*;

    stage! { GraphQl,
        /// Before anything is sent.
        fn on_request(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }
    tail!();

    /// For stages that look at results.
    pub trait OnResult: Stage {
        /// For each result. With nothing staged, CONTINUE passes it on as it is.
        fn on_result(&self, call: &mut Call, state: &mut Self::State, result: &ResultEvent) -> Answer;
    }

    impl super::Call<GraphQl> {
        operation_parts!();
        header_edits!();

        /// Replaces the document.
        pub fn set_document(&self, text: &str) -> Result<(), Failure> {
            self.set_part(Parts::DOCUMENT, text.as_bytes(), "the document")
        }
        /// Replaces the variables.
        pub fn set_variables(&self, json: &str) -> Result<(), Failure> {
            self.set_part(Parts::VARIABLES, json.as_bytes(), "the variables")
        }
        /// Replaces the extensions.
        pub fn set_extensions(&self, json: &str) -> Result<(), Failure> {
            self.set_part(Parts::EXTENSIONS, json.as_bytes(), "the extensions")
        }

        /// Stages a whole response: with CONTINUE it takes the result's place, in `on_end` it follows.
        pub fn emit(&self, json: &str) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, 0)
        }
        /// As [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, json: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, json, 0)
        }
        /// In `on_request`: this is the answer. `return call.respond(json)`
        pub fn respond(&self, json: &str) -> Answer {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, RESULT_SYNTHETIC)?;
            Ok(Verdict::RESPOND)
        }
        /// In `on_result`: this instead. `return call.replace(json)`
        pub fn replace(&self, json: &str) -> Answer {
            self.emit(json)?;
            Ok(Verdict::CONTINUE)
        }
        /// In `on_error`: a result in the error's place. `return call.recover(json)`
        pub fn recover(&self, json: &str) -> Answer {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, RESULT_SYNTHETIC)?;
            Ok(Verdict::RECOVER)
        }
        /// From the first GraphQL stage again. `return call.retry(delay)`
        pub fn retry(&self, delay: Duration) -> Answer {
            self.again(RETRY_CHAIN, delay)
        }
    }
}

/// HTTP stages see requests, and the heads and chunks of responses.
pub mod http {
    use super::*;

    stage! { Http,
        /// Before the request is sent.
        fn on_request(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }
    tail!();

    /// For stages that look at heads.
    pub trait OnHead: Stage {
        /// Status and headers arrived.
        fn on_head(&self, call: &mut Call, state: &mut Self::State, head: &Head) -> Answer;
    }

    /// For stages that look at bodies.
    pub trait OnChunk: Stage {
        /// For each piece of the body. With nothing staged, CONTINUE passes it on.
        fn on_chunk(&self, call: &mut Call, state: &mut Self::State, chunk: &Chunk) -> Answer;
    }

    impl super::Call<Http> {
        header_edits!();

        /// Where the request goes.
        pub fn url(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::URL)
        }
        /// The request's method.
        pub fn method(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::METHOD)
        }
        /// The request's body.
        pub fn body(&self) -> Result<Option<&[u8]>, Failure> {
            self.part(Parts::BODY)
        }
        /// Sends the request elsewhere.
        pub fn set_url(&self, url: &str) -> Result<(), Failure> {
            self.set_part(Parts::URL, url.as_bytes(), "the URL")
        }
        /// Replaces the method.
        pub fn set_method(&self, method: &str) -> Result<(), Failure> {
            self.set_part(Parts::METHOD, method.as_bytes(), "the method")
        }
        /// Replaces the body.
        pub fn set_body(&self, bytes: &[u8]) -> Result<(), Failure> {
            self.set_part(Parts::BODY, bytes, "the body")
        }

        /// Stages a response's head: in `on_request` before RESPOND, and in `on_head`.
        pub fn set_head(&self, status: u32, headers: &[(&str, &str)]) -> Result<(), Failure> {
            self.set_head_fields(status, headers)
        }
        /// Stages bytes of the response's body: with CONTINUE they take the chunk's place, in `on_end` they follow.
        pub fn emit(&self, bytes: &[u8]) -> Result<(), Failure> {
            self.stage(EMIT_CHUNK, self.buffer(bytes)?, 0)
        }
        /// As [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, bytes: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_CHUNK, bytes, 0)
        }
        /// In `on_request`: this is the response. `return call.respond(200, &[("Content-Type", "text/plain")], b"...")`
        pub fn respond(&self, status: u32, headers: &[(&str, &str)], body: &[u8]) -> Answer {
            self.set_head(status, headers)?;
            self.emit(body)?;
            Ok(Verdict::RESPOND)
        }
        /// In `on_chunk`: this instead. `return call.replace(bytes)`
        pub fn replace(&self, bytes: &[u8]) -> Answer {
            self.emit(bytes)?;
            Ok(Verdict::CONTINUE)
        }
        /// The HTTP request again. `return call.retry(delay)`
        pub fn retry(&self, delay: Duration) -> Answer {
            self.again(RETRY_STAGE, delay)
        }
    }
}

/// Cache stages are asked for results and told of them.
pub mod cache {
    use super::*;

    stage! { Cache,
        /// RESPOND is a hit; CONTINUE asks the next cache.
        fn on_read(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }

    /// For caches that keep what servers answer.
    pub trait OnWrite: Stage {
        /// A result came from a server. DROP keeps it from the caches behind this one.
        fn on_write(&self, call: &mut Call, state: &mut Self::State, result: &ResultEvent) -> Answer;
    }

    impl super::Call<Cache> {
        operation_parts!();

        /// In `on_read`: a hit. `return call.respond(json)`
        pub fn respond(&self, json: &str) -> Answer {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, RESULT_CACHE)?;
            Ok(Verdict::RESPOND)
        }
    }
}

/// Parsers turn the bytes of a response into results.
pub mod parser {
    use super::*;

    stage! { Parser,
        /// The media types it reads, as the field Accept lists them: `Some(c"application/cbor;q=0.9")`. The host adds them to the
        /// requests of its chain; `carabiner.h` says where.
        const ACCEPT: Option<&'static CStr> = None;

        /// CONTINUE takes the response, DROP leaves it to the next parser. The state is fresh for every response.
        fn on_head(&self, call: &mut Call, state: &mut Self::State, head: &Head) -> Answer;
    }
    tail!();

    /// For parsers that read bodies.
    pub trait OnChunk: Stage {
        /// For each piece of the body.
        fn on_chunk(&self, call: &mut Call, state: &mut Self::State, chunk: &Chunk) -> Answer;
    }

    impl super::Call<Parser> {
        /// Nothing for an anonymous operation.
        pub fn operation_name(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::OPERATION_NAME)
        }
        /// Stages a result, a whole GraphQL response: in `on_chunk` as soon as one is complete, or in `on_end`.
        pub fn emit(&self, json: &str) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, 0)
        }
        /// As [`Call::emit`], for a response in parts: whether this one adds to those before, and whether more follow.
        pub fn emit_part(&self, json: &str, is_incremental: bool, has_next: bool) -> Result<(), Failure> {
            let flags = (if is_incremental { RESULT_INCREMENTAL } else { 0 }) | (if has_next { RESULT_HAS_NEXT } else { 0 });
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, flags)
        }
        /// As [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, json: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, json, 0)
        }
    }
}
