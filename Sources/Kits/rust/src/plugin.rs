//! Creation of plugin instances.

use crate::config::Config;
use crate::failure::Failure;
use crate::host::Host;

/// The argument of [`Plugin::new`].
pub struct Setup<'a> {
    /// Can be copied and kept.
    pub host: Host,
    /// The name of the manifest entry.
    pub entry_name: &'a str,
    /// The configuration; the host has checked it against the schema.
    pub config: Config<'a>,
    /// The generation of the manifest that requires the instance.
    pub generation: u64,
    /// The path of the library in the manifest, not of the staged copy.
    pub origin: &'a str,
}

/// A plugin. There is one instance for each manifest entry, shared by all calls and threads; with `threads: PerCall`, one for
/// each call.
///
/// It is dropped on a host thread after all work of the instance has ended.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Makes an instance, or returns the reason why not.
    fn new(setup: &Setup) -> Result<Self, Failure>;
}

/// For plugins whose configuration has rules that a schema cannot express.
pub trait Validate: Plugin {
    /// Checks a configuration without any effect. [`Plugin::new`] must accept exactly the configurations that this accepts.
    fn validate(config: &Config) -> Result<(), Failure>;
}

/// For plugins that end something as soon as no new calls can start, for example connections that only new calls need.
pub trait Drain: Plugin {
    /// Called once for each instance before it is dropped; running calls finish. With `threads: PerCall` it is not called.
    fn drain(&self);
}
