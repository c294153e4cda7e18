internal import Synchronization

/// The counters of a client since its start.
final class ClientCounters: Sendable {
  private let results = Mutex<[String: Int]>([:])
  private let reopened = Atomic<Int>(0)
  private let open = Atomic<Int>(0)

  func count(_ commands: Int, _ result: String) { results.withLock { $0[result, default: 0] += commands } }

  /// The commands by their result.
  var commands: [String: Int] { results.withLock { $0 } }

  func countReopened() { reopened.wrappingAdd(1, ordering: .relaxed) }

  /// How often a lost connection was opened again.
  var reconnects: Int { reopened.load(ordering: .relaxed) }

  /// Notes whether a link is closed by its circuit.
  func setCircuit(isOpen: Bool) { open.wrappingAdd(isOpen ? 1 : -1, ordering: .relaxed) }

  /// The number of links that are closed by their circuit.
  var openCircuits: Int { open.load(ordering: .relaxed) }
}
