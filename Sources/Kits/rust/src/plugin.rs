//! How instances of a plugin come and go.

use crate::config::Config;
use crate::failure::Failure;
use crate::host::Host;

/// What a new instance is told.
pub struct Setup<'a> {
    /// To be kept.
    pub host: Host,
    /// The name of the manifest entry.
    pub entry_name: &'a str,
    /// The configuration; the host has checked it against the schema.
    pub config: Config<'a>,
    /// Of the manifest that asks for the instance.
    pub generation: u64,
}

/// A plugin: one instance for each manifest entry, shared by all calls and threads.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Makes an instance, or says why not.
    fn new(setup: &Setup) -> Result<Self, Failure>;
}
