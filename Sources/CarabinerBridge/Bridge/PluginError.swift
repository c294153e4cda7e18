internal import CCarabiner
internal import Carabiner
package import CarabinerABI

/// A plugin failed a call, or broke a rule of the contract.
package struct PluginError: DescribedError, Sendable {
  /// The kind of failure.
  package enum Code: String, Sendable {
    /// The plugin answered FAIL.
    case failed
    /// The plugin broke a rule of `carabiner.h`.
    case fault
    /// The plugin kept a hook pending for longer than its manifest entry allows.
    case timedOut
    /// The plugin asked for more retries than the host allows.
    case retryLimit
    /// The plugin is mandatory and its circuit breaker is open.
    case circuitOpen
    /// The plugin is mandatory and its file is revoked.
    case revoked
    /// The plugin's worker ended during the call.
    case crashed
    /// A hook ran for longer than its worker may.
    case hung
    /// The plugin's worker sent a message that breaks the protocol.
    case brokeProtocol = "protocol"
    /// The plugin's worker does not run.
    case unavailable
  }

  /// The kind of failure.
  package let code: Code
  /// The manifest entry.
  package let entry: String
  /// The hook it happened in.
  package let hook: String
  /// The cause, and the next step for an operator.
  package let message: String
  /// The plugin's own code.
  package var pluginCode: Int32
  /// The plugin's own domain; its manifest entry's name if it gave none.
  package var domain: String
  /// The header's error flags.
  package var flags: UInt32
  /// The HTTP status that the plugin gives as the cause; 0 for none.
  package var httpStatus: Int32
  /// The delay after which the plugin advises another attempt, in nanoseconds; 0 for no advice.
  package var retryAfter: UInt64
  /// Whether the manifest lets clients of a gateway get the message and the detail.
  package var isForClients = false
  /// The plugin's machine-readable detail as JSON text; nil if it gave none, or if clients do not get it.
  package var detail: String?

  /// Whether the error counts as a fault for the plugin's circuit breaker. When a worker ends, its other calls fail too, and they
  /// do not count.
  package var countsForBreaker = true

  /// The limits above which a message and a domain are cut, in bytes.
  package static let (maximumMessageBytes, maximumDomainBytes) = (4096, 256)
  /// The maximum size of a detail in bytes.
  package static let maximumDetailBytes = 4096

  /// Creates an error. The defaults are those of its properties.
  package init(
    code: Code, entry: String, hook: String, message: String, pluginCode: Int32 = 0, domain: String = "", flags: UInt32 = 0,
    httpStatus: Int32 = 0, retryAfter: UInt64 = 0
  ) {
    self.code = code
    self.entry = entry
    self.hook = hook
    self.message = message
    self.pluginCode = pluginCode
    self.domain = domain
    self.flags = flags
    self.httpStatus = httpStatus
    self.retryAfter = retryAfter
  }

  package var description: String { "\(entry) (\(hook)): \(message) [\(code.rawValue)]" }

  /// A mandatory plugin that broke the contract too often: its requests fail before they begin.
  package static func circuitOpen(_ entry: String) -> PluginError {
    PluginError(
      code: .circuitOpen, entry: entry, hook: "",
      message: "its circuit breaker is open after too many faults, and a mandatory plugin is not passed over; it is tried again "
        + "after breaker-cool-down, look for its faults in the log and fix or replace it",
      flags: UInt32(CRB_ERROR_PLUGIN_FAULT))
  }

  /// A mandatory plugin whose file is revoked: its requests fail before they begin.
  package static func revoked(_ entry: String) -> PluginError {
    PluginError(
      code: .revoked, entry: entry, hook: "",
      message: "its file is revoked, and a mandatory plugin is not passed over; load a version that is not revoked")
  }

  package static func fault(_ entry: String, _ hook: Hook, _ message: String) -> PluginError {
    PluginError(
      code: .fault, entry: entry, hook: hook.name,
      message: "\(message); this breaks the contract in carabiner.h, so disable the plugin until its author has fixed it",
      flags: UInt32(CRB_ERROR_PLUGIN_FAULT))
  }
}

extension PluginError: ClientFacingError {
  package var refusalStatus: Int? {
    if code == .unavailable { return 503 }
    return code == .failed && (400...599).contains(httpStatus) ? Int(httpStatus) : nil
  }

  package var refusalMessage: String? { isForClients ? message : nil }

  package var refusalDetail: String? { isForClients ? detail : nil }

  package var refusalDelay: Duration? { retryAfter > 0 ? .nanoseconds(Int64(clamping: retryAfter)) : nil }

  package var isTimeout: Bool { code == .timedOut || flags & UInt32(CRB_ERROR_TIMEOUT) != 0 }
}
