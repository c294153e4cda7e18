import Carabiner

// The names of the core that tests need. A file imports the core or this generation, because both have types of the same names.

typealias TransportError = Carabiner.TransportError
typealias ChangedKeys = Carabiner.ChangedKeys

/// The limits of responses in parts.
typealias PartLimits = Carabiner.ResponseLimits
