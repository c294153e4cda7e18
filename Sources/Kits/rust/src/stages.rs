//! The four kinds of stages: the functions of their calls, and their hooks.

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

/// The items of every kind of stage, except its first hook.
macro_rules! stage {
    ($kind:ident, $($first:tt)*) => {
        /// Marks the calls of this kind of stage.
        pub struct $kind;
        /// A call in a hook of this kind of stage.
        pub type Call = crate::call::Call<$kind>;
        /// A call that was cancelled.
        pub use crate::call::Cancelled;

        /// A stage of this kind, with its first hook.
        pub trait Stage: Plugin {
            /// The stage's own value for one call; it survives retries. `()` costs nothing.
            type State: Default + Send + 'static;
            /// The parts that the stage reads.
            const NEEDS: Parts = Parts::NONE;
            /// The parts that the stage may change.
            const MUTATES: Parts = Parts::NONE;

            $($first)*
        }

        /// For stages that need to know when a call is cancelled.
        pub trait OnCancel: Stage {
            /// Wake waiting threads and return. Another hook of the same call may be running.
            fn on_cancel(&self, call: &Cancelled);
        }
    };
}

/// Hooks of stages that every message passes.
macro_rules! tail {
    () => {
        /// For stages that handle errors of inner stages.
        pub trait OnError: Stage {
            /// An inner stage failed. An `Err` replaces the error.
            fn on_error(&self, call: &mut Call, state: &mut Self::State, error: &ErrorEvent) -> Answer;
        }

        /// For stages that need to know when the stream ends.
        pub trait OnEnd: Stage {
            /// No further events will come from the inner stages.
            fn on_end(&self, call: &mut Call, state: &mut Self::State) -> Answer;
        }
    };
}

/// The parts of an operation.
macro_rules! operation_parts {
    () => {
        /// The name of the operation; `None` if it is anonymous.
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

/// Functions that change headers.
macro_rules! header_edits {
    () => {
        /// Sets a header and removes other fields with this name.
        pub fn set_header(&self, name: &str, value: &str) -> Result<(), Failure> {
            self.change_header(name, Some(value), 0)
        }
        /// Adds a header field and keeps existing ones.
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
        /// Called before anything is sent.
        fn on_request(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }
    tail!();

    /// For stages that read results.
    pub trait OnResult: Stage {
        /// Called for each result. If nothing is staged, CONTINUE passes it on unchanged.
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

        /// Stages a whole response. With CONTINUE it replaces the current result, and keeps whether more results follow; in `on_end` it is
        /// added after the last result.
        pub fn emit(&self, json: &str) -> Result<(), Failure> {
            self.emit_buffer(self.buffer(json.as_bytes())?)
        }
        /// Like [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, json: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, json, self.result_flags)
        }
        /// In `on_request`: responds with this result. `return call.respond(json)`
        pub fn respond(&self, json: &str) -> Answer {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, RESULT_SYNTHETIC)?;
            Ok(Verdict::RESPOND)
        }
        /// In `on_result`: passes this result on instead. `return call.replace(json)`
        pub fn replace(&self, json: &str) -> Answer {
            self.emit(json)?;
            Ok(Verdict::CONTINUE)
        }
        /// In `on_error`: replaces the error with this result. `return call.recover(json)`
        pub fn recover(&self, json: &str) -> Answer {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, RESULT_SYNTHETIC)?;
            Ok(Verdict::RECOVER)
        }
        /// Restarts the call at the first GraphQL stage. `return call.retry(delay)`
        pub fn retry(&self, delay: Duration) -> Answer {
            self.again(RETRY_CHAIN, delay)
        }
    }
}

/// HTTP stages see requests, and the heads and chunks of responses.
pub mod http {
    use super::*;

    stage! { Http,
        /// Called before the request is sent.
        fn on_request(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }
    tail!();

    /// For stages that read response heads.
    pub trait OnHead: Stage {
        /// Status and headers arrived.
        fn on_head(&self, call: &mut Call, state: &mut Self::State, head: &Head) -> Answer;
    }

    /// For stages that read response bodies.
    pub trait OnChunk: Stage {
        /// Called for each piece of the body. If nothing is staged, CONTINUE passes it on unchanged.
        fn on_chunk(&self, call: &mut Call, state: &mut Self::State, chunk: &Chunk) -> Answer;
    }

    impl super::Call<Http> {
        header_edits!();

        /// The URL of the request.
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
        /// Replaces the URL.
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

        /// Stages a response head: in `on_request` before RESPOND, or in `on_head`.
        pub fn set_head(&self, status: u32, headers: &[(&str, &str)]) -> Result<(), Failure> {
            self.set_head_fields(status, headers)
        }
        /// Stages bytes of the response body. With CONTINUE they replace the chunk; in `on_end` they are added after the last
        /// chunk.
        pub fn emit(&self, bytes: &[u8]) -> Result<(), Failure> {
            self.stage(EMIT_CHUNK, self.buffer(bytes)?, 0)
        }
        /// Like [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, bytes: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_CHUNK, bytes, 0)
        }
        /// In `on_request`: sends this response. `return call.respond(200, &[("Content-Type", "text/plain")], b"...")`
        pub fn respond(&self, status: u32, headers: &[(&str, &str)], body: &[u8]) -> Answer {
            self.set_head(status, headers)?;
            self.emit(body)?;
            Ok(Verdict::RESPOND)
        }
        /// In `on_chunk`: passes these bytes on instead. `return call.replace(bytes)`
        pub fn replace(&self, bytes: &[u8]) -> Answer {
            self.emit(bytes)?;
            Ok(Verdict::CONTINUE)
        }
        /// Sends the HTTP request again. `return call.retry(delay)`
        pub fn retry(&self, delay: Duration) -> Answer {
            self.again(RETRY_STAGE, delay)
        }
    }
}

/// Cache stages look up and store results.
pub mod cache {
    use super::*;

    stage! { Cache,
        /// RESPOND returns a cached result; CONTINUE asks the next cache.
        fn on_read(&self, call: &mut Call, state: &mut Self::State) -> Answer;
    }

    /// For caches that store the results of servers.
    pub trait OnWrite: Stage {
        /// Called for a result from a server. DROP hides it from the caches after this one.
        fn on_write(&self, call: &mut Call, state: &mut Self::State, result: &ResultEvent) -> Answer;
    }

    impl super::Call<Cache> {
        operation_parts!();

        /// In `on_read`: responds with a cached result. `return call.respond(json)`
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
        /// The media types that the parser reads, in the syntax of the Accept header: `Some(c"application/cbor;q=0.9")`. The host
        /// adds them to the requests of its chain; `carabiner.h` says where.
        const ACCEPT: Option<&'static CStr> = None;

        /// CONTINUE takes the response, DROP leaves it to the next parser. Every response gets a new state.
        fn on_head(&self, call: &mut Call, state: &mut Self::State, head: &Head) -> Answer;
    }
    tail!();

    /// For parsers that read bodies.
    pub trait OnChunk: Stage {
        /// Called for each piece of the body.
        fn on_chunk(&self, call: &mut Call, state: &mut Self::State, chunk: &Chunk) -> Answer;
    }

    impl super::Call<Parser> {
        /// The name of the operation; `None` if it is anonymous.
        pub fn operation_name(&self) -> Result<Option<&str>, Failure> {
            self.text_part(Parts::OPERATION_NAME)
        }
        /// Stages a result, a whole GraphQL response: in `on_chunk` as soon as one is complete, or in `on_end`.
        pub fn emit(&self, json: &str) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, 0)
        }
        /// Like [`Call::emit`], for a response in parts: whether this part adds to earlier ones, and whether more follow.
        pub fn emit_part(&self, json: &str, is_incremental: bool, has_next: bool) -> Result<(), Failure> {
            let flags = (if is_incremental { RESULT_INCREMENTAL } else { 0 }) | (if has_next { RESULT_HAS_NEXT } else { 0 });
            self.stage(EMIT_RESULT, self.buffer(json.as_bytes())?, flags)
        }
        /// Like [`Call::emit`], without a copy.
        pub fn emit_buffer(&self, json: Buffer) -> Result<(), Failure> {
            self.stage(EMIT_RESULT, json, 0)
        }
    }
}
