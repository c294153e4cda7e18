/// The limits of the hooks of a call.
public struct HookLimits: Sendable, Hashable {
  /// How many values one hook may hold. When it holds as many, no more are taken from the network or from `send`.
  public var maximumHeldValues = 32
  /// How often a unary request may be sent. After that the call fails with `resourceExhausted`.
  public var maximumAttempts = 10
  /// How long hooks may hold the outcome of a call that was cancelled, or whose time is over.
  public var patience = Duration.seconds(1)

  /// Creates the default limits.
  public init() {}
}
