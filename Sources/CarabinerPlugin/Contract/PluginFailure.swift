public import FoundationEssentials

/// An error that a plugin throws, with a message for users and operators.
public struct PluginFailure: LocalizedError, CustomStringConvertible {
  public let description: String
  /// A code that the plugin defines. If the host refused a function, its status.
  public let code: Int32
  /// The kind of the error.
  public let flags: ErrorFlags
  /// Machine-readable details as JSON; nil if there are none.
  public let detail: String?
  /// The status, 400 to 599, that a gateway returns to its client; 0 if the gateway chooses it.
  public let httpStatus: Int
  /// How long a gateway's client should wait before a retry; zero if unknown.
  public let retryAfter: Duration

  /// Creates a failure with this description.
  public init(
    _ description: String, code: Int32 = 0, flags: ErrorFlags = [], httpStatus: Int = 0, retryAfter: Duration = .zero,
    detail: String? = nil
  ) {
    self.description = description
    self.code = code
    self.flags = flags
    self.detail = detail
    self.httpStatus = httpStatus
    self.retryAfter = retryAfter
  }
}
