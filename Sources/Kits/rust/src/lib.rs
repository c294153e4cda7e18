//! Plugins for Carabiner in Rust, without dependencies and without `unsafe` in a plugin.
//!
//! Write a type, its stages and its hooks; then export it:
//!
//! ```
//! use carabiner::{graphql, Answer, Failure, Parts, Plugin, Setup, Verdict};
//!
//! struct Hello;
//!
//! impl Plugin for Hello {
//!     fn new(_: &Setup) -> Result<Self, Failure> {
//!         Ok(Hello)
//!     }
//! }
//!
//! impl graphql::Stage for Hello {
//!     type State = ();
//!     const MUTATES: Parts = Parts::HEADERS;
//!
//!     fn on_request(&self, call: &mut graphql::Call, _: &mut ()) -> Answer {
//!         call.set_header("X-Hello", "world")?;
//!         Ok(Verdict::CONTINUE)
//!     }
//! }
//!
//! carabiner::plugin!(Hello, id: "org.example.hello", version: "1.0.0");
//! ```
//!
//! | Module      | First hook, mandatory | Further hooks, a trait each                            |
//! |-------------|-----------------------|--------------------------------------------------------|
//! | [`graphql`] | `on_request`          | `OnResult`, `OnError`, `OnEnd`, `OnCancel`             |
//! | [`http`]    | `on_request`          | `OnHead`, `OnChunk`, `OnError`, `OnEnd`, `OnCancel`    |
//! | [`cache`]   | `on_read`             | `OnWrite`, `OnCancel`                                  |
//! | [`parser`]  | `on_head`             | `OnChunk`, `OnError`, `OnEnd`, `OnCancel`              |
//!
//! A hook whose trait is not implemented leaves its slot NULL, and the host does not call it. An `Err` or a panic fails the call with its
//! message; a panic never leaves the plugin. To wait, return the value of [`Call::after`], [`Call::fetch`], [`Call::store`] or
//! [`Call::later`]. `State` is the stage's own value for one call; `()` costs nothing.
//!
//! [`Validate`] checks a configuration. [`plugin!`] accepts several plugins and the thread class of each. A parser's `ACCEPT` is added to
//! the Accept header of requests. [`Handover`] preserves state over a reload; [`SelfTests`] are run by `carabiner conform`.
#![warn(missing_docs)]

#[cfg(panic = "abort")]
compile_error!("a plugin must be able to catch its panics: remove panic = \"abort\" from its profile");

pub mod abi;
mod buffer;
mod call;
mod config;
mod events;
mod extensions;
mod failure;
mod fetch;
mod gate;
mod host;
mod instance;
mod later;
mod macros;
mod plugin;
mod stages;
mod store;
mod tasks;
mod timer;
mod values;

#[doc(hidden)]
pub mod export;

pub use buffer::Buffer;
pub use call::{Call, Cancelled};
pub use config::Config;
pub use events::{Chunk, ErrorEvent, Head, Header, Headers, ResultEvent};
pub use extensions::{Handover, SelfTest, SelfTests};
pub use failure::{Answer, Failure, Verdict};
pub use fetch::{FetchRequest, FetchResponse};
pub use host::{Host, Level};
pub use later::Later;
pub use plugin::{Drain, Plugin, Setup, Validate};
pub use stages::{cache, graphql, http, parser};
pub use store::{StoreAnswer, StoreRequest};
pub use timer::Timer;
pub use values::{ErrorFlags, Key, Operation, Parts, Scope, Value};
