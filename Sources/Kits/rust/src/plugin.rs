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
    /// The path of the library in the manifest, not of the staged copy.
    pub origin: &'a str,
}

/// A plugin: one instance for each manifest entry, shared by all calls and threads; with `threads: PerCall` one for each call.
///
/// It is dropped on a thread of the host, when all work of the instance has ended.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Makes an instance, or says why not.
    fn new(setup: &Setup) -> Result<Self, Failure>;
}

/// For plugins whose configuration can be wrong in ways that no schema can say.
pub trait Validate: Plugin {
    /// Says whether a configuration is good, without any effect. [`Plugin::new`] must take what this takes, and nothing else.
    fn validate(config: &Config) -> Result<(), Failure>;
}
