internal import CarabinerDigest
internal import CarabinerWire
internal import NIOCore
internal import Synchronization

/// Counts the operations of clients together with the other gateways of a fleet.
///
/// The clock of the shared server divides time into windows. Each gateway counts locally. At an interval it adds its counts to
/// those of the server and reads the totals: a round. No request waits for a round.
///
/// The rate limits a sliding window that ends now. Its count is that of the current window, plus that of the last window in
/// proportion to the overlap. If the count exceeds the rate, the client is refused.
///
/// While the server does not answer, this object refuses no client, and only the buckets of ``RateLimiter`` decide.
package final class SharedRates: Sendable {
  /// The minimum length of a window, in milliseconds. The counts of other gateways arrive late: with windows of a second, four
  /// gateways would admit 50 % more operations than the rate allows.
  static let minimumWindow: Int64 = 10_000
  /// The maximum number of clients that are counted. For further ones, only their buckets decide.
  static let maximumClients = 100_000
  /// The maximum number of clients in a round. Others follow in the next round.
  static let maximumClientsPerRound = 5000
  /// The time without a round after which an empty round reads the clock of the server, in milliseconds.
  private static let timeInterval: Int64 = 30_000

  private struct Client {
    let digest: [UInt8]
    /// The number of the current window.
    var window: Int64
    /// The operations in all gateways in the current window and in the one before, as of the last round, and those that this
    /// gateway has sent since.
    var current = 0
    var last = 0
    /// The operations of this gateway in both windows that were not sent.
    var unsent = 0
    var unsentOfLast = 0
    /// Whether the client is in the next round.
    var isSeen = false

    /// Moves the counts to a later window.
    mutating func move(to next: Int64) {
      guard next > window else { return }
      (last, unsentOfLast) = next == window + 1 ? (current, unsent) : (0, 0)
      (current, unsent, window) = (0, 0, next)
    }
  }

  private struct State {
    var clients: [Int: Client] = [:]
    /// The keys of clients for the next rounds, in the order in which they were seen.
    var seen: [Int] = []
    /// The time of the server minus the local time, in milliseconds; nil before the first round.
    var offset: Int64?
    /// Whether the last round succeeded.
    var isCurrent = false
    /// Whether a round has begun. After a reload, two tasks may share the counts for a moment.
    var isUnderWay = false
    var lastRound: Int64?
    /// The window in which inactive clients were last removed.
    var cleaned: Int64 = 0
  }

  private let rate: RequestRate
  private let maximumClients: Int
  private let now: @Sendable () -> Int64
  private let state = Mutex(State())
  /// The length of a window in milliseconds.
  package let window: Int64
  /// The number of operations that a window allows.
  private let limit: Double

  /// - Parameter now: The time of a monotonic clock, in milliseconds.
  package init(
    _ rate: RequestRate, maximumClients: Int = SharedRates.maximumClients,
    now: @escaping @Sendable () -> Int64 = { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
  ) {
    self.rate = rate
    self.maximumClients = maximumClients
    self.now = now
    let perMillisecond = Double(rate.count) * 1e6 / Double(rate.unit.nanoseconds)
    window = max(Self.minimumWindow, Int64((Double(rate.burst) / perMillisecond).rounded(.up)))
    limit = perMillisecond * Double(window)
  }

  /// The number of clients that are counted.
  var clientCount: Int { state.withLock { $0.clients.count } }

  // MARK: Requests

  /// Whether a client may begin operations. They are not counted yet.
  func verdict(_ operations: Int, for key: String) -> RateLimiter.Verdict {
    let now = now()
    return state.withLock { state in
      guard state.isCurrent, let offset = state.offset else { return .allowed }
      let (time, id) = (now + offset, key.hashValue)
      guard var client = state.clients[id] else { return .allowed }
      client.move(to: time / window)
      see(&client, id, &state)
      state.clients[id] = client
      return verdict(Double(operations), client, at: time)
    }
  }

  /// Counts operations of a client that begin.
  func count(_ operations: Int, for key: String) {
    let (now, id) = (now(), key.hashValue)
    // Made outside of the lock, because a key may be long.
    let isNew = state.withLock { $0.offset != nil && $0.clients[id] == nil && $0.clients.count < maximumClients }
    let digest = isNew ? Digest.sha256(Array(key.utf8)) : []
    state.withLock { state in
      guard let offset = state.offset else { return }
      let number = (now + offset) / window
      guard var client = state.clients[id] ?? (isNew ? Client(digest: digest, window: number) : nil),
        state.clients[id] != nil || state.clients.count < maximumClients
      else { return }
      client.move(to: number)
      client.unsent += operations
      see(&client, id, &state)
      state.clients[id] = client
    }
  }

  private func see(_ client: inout Client, _ id: Int, _ state: inout State) {
    guard !client.isSeen else { return }
    client.isSeen = true
    state.seen.append(id)
  }

  private func verdict(_ operations: Double, _ client: Client, at time: Int64) -> RateLimiter.Verdict {
    let (current, last) = (Double(client.current + client.unsent), Double(client.last + client.unsentOfLast))
    let rest = 1 - Double(time % window) / Double(window)
    // More operations than one window allows can begin only after an empty window.
    let room = max(0, limit - operations)
    guard last * rest + current > room else { return .allowed }
    let share =
      if current <= room, last > 0 {
        // They fit when enough of the last window has left the overlap.
        rest - (room - current) / last
      } else {
        // They fit in the next window, when enough of the current one has left the overlap.
        rest + max(0, 1 - room / max(1, current))
      }
    return .refused(.milliseconds(max(1, Int64((share * Double(window)).rounded(.up)))))
  }

  /// Forgets the clients that had no operation in this window and the last one, once in each window.
  private func clean(_ number: Int64, _ state: inout State) {
    guard state.cleaned < number else { return }
    state.cleaned = number
    state.clients = state.clients.filter { $0.value.window >= number - 1 }
    let clients = state.clients
    state.seen.removeAll { clients[$0] == nil }
  }

  // MARK: Rounds

  /// The counts of clients for the server.
  package struct Round: Sendable {
    package struct Entry: Sendable {
      fileprivate let id: Int
      /// The names of the counts of the window and of the one before: 16 bytes each.
      package let name: [UInt8]
      package let lastName: [UInt8]
      /// The operations to add to them.
      package let added: Int
      package let addedToLast: Int
    }

    fileprivate let window: Int64
    package let entries: [Entry]
  }

  /// Begins a round. The caller must end it with ``end(_:totals:offset:)`` or ``fail(_:wasSent:)``.
  ///
  /// - Returns: Nil if no round is due, or one is in progress. A round without entries only reads the clock of the server.
  package func beginRound() -> Round? {
    let now = now()
    let parts: (number: Int64, clients: [(id: Int, digest: [UInt8], added: Int, addedToLast: Int)])? = state.withLock { state in
      guard !state.isUnderWay else { return nil }
      guard let offset = state.offset else {
        state.isUnderWay = true
        return (0, [])
      }
      let isDue = !state.isCurrent || state.lastRound.map { now - $0 >= Self.timeInterval } ?? true
      guard !state.seen.isEmpty || isDue else { return nil }
      let number = (now + offset) / window
      clean(number, &state)
      state.isUnderWay = true
      let taken = state.seen.prefix(Self.maximumClientsPerRound)
      state.seen.removeFirst(taken.count)
      return (number, taken.compactMap { take($0, number, &state) })
    }
    return parts.map { number, clients in
      Round(
        window: number,
        entries: clients.map {
          Round.Entry(
            id: $0.id, name: name($0.digest, number), lastName: name($0.digest, number - 1), added: $0.added,
            addedToLast: $0.addedToLast)
        })
    }
  }

  private func take(
    _ id: Int, _ number: Int64, _ state: inout State
  ) -> (id: Int, digest: [UInt8], added: Int, addedToLast: Int)? {
    guard var client = state.clients[id] else { return nil }
    client.move(to: number)
    let entry = (id, client.digest, client.unsent, client.unsentOfLast)
    // From now on they count as sent.
    (client.current, client.last) = (client.current + client.unsent, client.last + client.unsentOfLast)
    (client.unsent, client.unsentOfLast, client.isSeen) = (0, 0, false)
    state.clients[id] = client
    return entry
  }

  /// The name depends on the length of the window. Thus gateways with different lengths do not mix their counts.
  private func name(_ digest: [UInt8], _ number: Int64) -> [UInt8] {
    Array(Digest.sha256(digest + Array("\(window) \(number)".utf8)).prefix(16))
  }

  /// Ends a round with the totals of all gateways, one for each entry.
  ///
  /// - Parameters:
  ///   - totals: The counts of the round's window and of the one before.
  ///   - offset: The time of the server minus the local one, in milliseconds.
  package func end(_ round: Round, totals: [(current: Int, last: Int)], offset: Int64) {
    let now = now()
    state.withLock { state in
      (state.isCurrent, state.isUnderWay, state.lastRound) = (true, false, now)
      // The clock of the server was set back, or another server answers. The same window numbers will occur again, so the counts
      // are dropped.
      if let last = state.offset, (now + offset) / window < (now + last) / window - 1 {
        (state.clients, state.seen, state.cleaned) = ([:], [], 0)
      }
      state.offset = offset
      for (entry, total) in zip(round.entries, totals) {
        guard var client = state.clients[entry.id] else { continue }
        if client.window == round.window {
          (client.current, client.last) = (total.current, total.last)
        } else if client.window == round.window + 1 {
          client.last = total.current
        }
        state.clients[entry.id] = client
      }
    }
  }

  /// Records that a round has no connection. No client is refused until a round succeeds.
  func pause() {
    let now = now()
    state.withLock { state in
      state.isCurrent = false
      if let offset = state.offset { clean((now + offset) / window, &state) }
    }
  }

  /// Ends a round that failed. No client is refused until a round succeeds.
  ///
  /// - Parameter wasSent: Whether the server may have added the counts. If so, they are not sent again.
  package func fail(_ round: Round, wasSent: Bool) {
    state.withLock { state in
      (state.isCurrent, state.isUnderWay) = (false, false)
      for entry in round.entries {
        guard var client = state.clients[entry.id] else { continue }
        see(&client, entry.id, &state)
        if !wasSent {
          if client.window == round.window {
            (client.current, client.unsent) = (client.current - entry.added, client.unsent + entry.added)
            (client.last, client.unsentOfLast) = (client.last - entry.addedToLast, client.unsentOfLast + entry.addedToLast)
          } else if client.window == round.window + 1 {
            (client.last, client.unsentOfLast) = (client.last - entry.added, client.unsentOfLast + entry.added)
          }
        }
        state.clients[entry.id] = client
      }
    }
  }
}
