internal import Synchronization

/// Which bytes of relayed connections wait in the relay.
public final class RelayControl: Sendable {
  /// How often a relay looks at its control, in milliseconds.
  static let interval: Int32 = 5

  private let state = Mutex((requests: false, answers: false))
  private let exemption: [UInt8]

  /// - Parameter exemption: A connection whose client sends this text is relayed always.
  public init(exempting exemption: String) { self.exemption = Array(exemption.utf8) }

  /// Whether bytes of the clients and those of the server wait.
  public var waits: (requests: Bool, answers: Bool) { state.withLock { $0 } }

  /// Reads nothing more of the clients.
  public func holdRequests() { state.withLock { $0.requests = true } }

  /// Reads nothing more of the server.
  public func holdAnswers() { state.withLock { $0.answers = true } }

  /// Relays everything again.
  public func release() { state.withLock { $0 = (false, false) } }

  func exempts(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.firstRange(of: exemption) != nil }
}
