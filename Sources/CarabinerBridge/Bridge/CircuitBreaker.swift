internal import Logging
internal import Synchronization

/// Leaves an entry out for a while after it has broken the contract several times in a row.
///
/// A closed breaker only counts. While it is open, requests pass without the entry. After a cool-down, one request at a time tries the
/// entry, and its result closes the breaker or opens it again. A healthy plugin costs one load at the end of a request.
package final class CircuitBreaker: Sendable {
  /// The state of a breaker.
  package enum Phase: String, Sendable, Hashable {
    case closed
    case open
    case halfOpen = "half-open"
  }

  /// The status of a breaker for operators.
  package struct Status: Sendable, Hashable {
    /// The state.
    package let phase: Phase
    /// How many faults there were in a row.
    package let consecutiveFaults: Int
    /// How many open it.
    package let threshold: Int
    /// How long until a request may try the entry; nil unless it is open.
    package let coolDownLeft: Duration?

    /// A status.
    package init(phase: Phase, consecutiveFaults: Int, threshold: Int, coolDownLeft: Duration?) {
      self.phase = phase
      self.consecutiveFaults = consecutiveFaults
      self.threshold = threshold
      self.coolDownLeft = coolDownLeft
    }
  }

  /// The decision about a request.
  package enum Admission {
    case pass
    case passOver
    case probe(Probe)
  }

  private struct Circuit {
    var phase = Phase.closed
    var faults = 0
    /// When it opened, or when the probe under way began, in nanoseconds.
    var since: UInt64 = 0
    /// The number of the latest probe.
    var probe: UInt64 = 0
  }

  private let entry: String
  private let threshold: Int
  private let coolDown: UInt64
  private let board: BreakerRegistry
  private let circuit = Mutex(Circuit())
  /// Whether a successful call would change anything.
  private let isTroubled = Atomic<Bool>(false)
  private static let logger = Logger(label: "carabiner.host")

  /// - Parameters:
  ///   - threshold: How many faults in a row open it.
  ///   - board: Provides the time, and counts the breakers that are not closed.
  init(entry: String, threshold: Int, coolDown: Duration, board: BreakerRegistry) {
    self.entry = entry
    self.threshold = threshold
    self.coolDown = UInt64(clamping: coolDown.nanoseconds)
    self.board = board
  }

  // An instance may be replaced while its breaker is open.
  deinit { circuit.withLock { if $0.phase != .closed { board.noteClosed() } } }

  package var status: Status {
    let now = board.now()
    return circuit.withLock { circuit in
      let left = circuit.since + coolDown
      return Status(
        phase: circuit.phase, consecutiveFaults: circuit.faults, threshold: threshold,
        coolDownLeft: circuit.phase == .open ? .nanoseconds(Int64(clamping: left - min(left, now))) : nil)
    }
  }

  // MARK: Before a request

  /// Whether a request may pass the entry.
  package func admission() -> Admission {
    let now = board.now()
    return circuit.withLock { circuit in
      guard circuit.phase != .closed else { return .pass }
      // A probe may take longer than the cool-down, for example a subscription. Others may try meanwhile.
      guard now >= circuit.since + coolDown else { return .passOver }
      circuit.phase = .halfOpen
      circuit.since = now
      circuit.probe += 1
      return .probe(Probe(self, circuit.probe))
    }
  }

  // MARK: After a call

  /// Counts a fault.
  ///
  /// - Parameter probe: The probe the call belongs to, if it is one of this breaker.
  func noteFault(_ probe: Probe?) {
    let now = board.now()
    let hasOpened: Bool = circuit.withLock { circuit in
      isTroubled.store(true, ordering: .relaxed)
      circuit.faults += 1
      switch circuit.phase {
      case .closed:
        guard circuit.faults >= threshold else { return false }
        board.noteOpened()
      case .halfOpen:
        guard let probe, probe.number == circuit.probe else { return false }
      case .open:
        // A call that began while it was closed.
        return false
      }
      circuit.phase = .open
      circuit.since = now
      return true
    }
    guard hasOpened else { return }
    Self.logger.error(
      "circuit breaker open: the plugin broke the contract too often and is left out until it has cooled down",
      metadata: ["entry": "\(entry)", "cool-down": "\(Duration.nanoseconds(Int64(clamping: coolDown)))"])
  }

  /// Records a call in which the plugin kept the contract.
  func noteSuccess(_ probe: Probe?) {
    guard isTroubled.load(ordering: .relaxed) else { return }
    let hasClosed: Bool = circuit.withLock { circuit in
      switch circuit.phase {
      case .closed: break
      case .halfOpen:
        guard let probe, probe.number == circuit.probe else { return false }
        board.noteClosed()
      case .open: return false
      }
      let hasClosed = circuit.phase == .halfOpen
      circuit.phase = .closed
      circuit.faults = 0
      isTroubled.store(false, ordering: .relaxed)
      return hasClosed
    }
    if hasClosed { Self.logger.notice("circuit breaker closed: the plugin works again", metadata: ["entry": "\(entry)"]) }
  }

  /// A probe ended without a result: the next request may try.
  fileprivate func abandon(_ number: UInt64) {
    circuit.withLock { circuit in
      guard circuit.phase == .halfOpen, circuit.probe == number else { return }
      circuit.phase = .open
      circuit.since = 0
    }
  }

  /// A request that tries an entry whose breaker is open. When it is released, the next request may try.
  package final class Probe: Sendable {
    let breaker: CircuitBreaker
    fileprivate let number: UInt64

    fileprivate init(_ breaker: CircuitBreaker, _ number: UInt64) {
      self.breaker = breaker
      self.number = number
    }

    deinit { breaker.abandon(number) }
  }
}

/// The values that the breakers of a chain share.
package final class BreakerRegistry: Sendable {
  /// The time, in nanoseconds of a clock that never goes back.
  let now: @Sendable () -> UInt64
  private let count = Atomic<Int>(0)

  package init(now: @escaping @Sendable () -> UInt64) { self.now = now }

  /// Whether every request may pass every entry: no breaker is open, and no chain has withdrawn a plugin.
  package var areAllClosed: Bool { count.load(ordering: .relaxed) == 0 }

  package func noteOpened() { count.wrappingAdd(1, ordering: .relaxed) }

  package func noteClosed() { count.wrappingSubtract(1, ordering: .relaxed) }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    let (seconds, rest) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product.addingReportingOverflow(rest / 1_000_000_000).partialValue
  }
}
