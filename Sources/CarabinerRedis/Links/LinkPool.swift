internal import CarabinerRESP
internal import Synchronization

/// The connections to one server. They are opened at once, and closed when the value is released.
final class LinkPool: Sendable {
  private let links: [RedisLink]
  private let next = Atomic<Int>(0)
  private let counters: ClientCounters

  /// - Parameter links: One or more, which are started here.
  init(_ links: [RedisLink], _ counters: ClientCounters) {
    (self.links, self.counters) = (links, counters)
    for link in links { link.start() }
  }

  deinit {
    for link in links { link.beginShutDown() }
  }

  /// Whether a connection is open and its circuit is closed.
  var isOpen: Bool { links.contains(where: \.isOpen) }

  /// The number of commands that have no answer yet.
  var waitingCommands: Int { links.reduce(0) { $0 + $1.waitingCommands } }

  /// The server of the connection that was opened last; nil before the first one.
  var server: RedisURL? { links.lazy.compactMap(\.server).first }

  /// Sends commands in one piece and waits for their answers.
  ///
  /// - Throws: ``RedisError`` as ``RedisClient/send(_:to:within:)``.
  func send(_ commands: CommandBatch, within budget: Duration) async throws(RedisError) -> [Reply] {
    try await Call.send(commands, within: budget, counters) { call throws(RedisError) in
      try submit(commands, for: call, within: budget)
    }
  }

  /// Passes a call to the next connection that takes it.
  private func submit(_ commands: CommandBatch, for call: Call, within budget: Duration) throws(RedisError) {
    let first = links.count == 1 ? 0 : next.wrappingAdd(1, ordering: .relaxed).newValue & Int.max
    var refusal: RedisError?
    for index in 0..<links.count {
      do throws(RedisError) {
        return try links[(first % links.count + index) % links.count].submit(commands, for: call, within: budget)
      } catch {
        // An overload is a better explanation than a lost connection.
        if refusal?.code != .overloaded { refusal = error }
      }
    }
    throw refusal ?? .notConnected
  }

  /// The connection that is open now.
  ///
  /// - Throws: ``RedisError`` with code `unavailable`.
  func openLink() throws(RedisError) -> RedisLink {
    guard let link = links.first(where: \.isOpen) else { throw .notConnected }
    return link
  }

  /// Lets each connection try the next server.
  func moveOn() { for link in links { link.moveOn() } }

  /// Closes all connections for good.
  func shutDown() async {
    for link in links { await link.shutDown() }
  }
}

extension RedisError {
  static let notConnected = RedisError(.unavailable, "there is no connection to Redis; the log says why")
}
