public import FoundationEssentials

/// Marks a value that travels with a request, for its interceptors.
public protocol RequestContext {}

/// A context that limits how long the transfer of its request may take.
public protocol RequestContextTimeoutConfigurable: RequestContext {
  /// The limit in seconds.
  var requestTimeout: TimeInterval { get }
}
