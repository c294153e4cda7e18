/// The requests of the nodes to the store, by seconds of virtual time.
package struct StoreLoad: Sendable, Hashable {
  /// Requests and events of one second.
  package struct Second: Sendable, Hashable {
    /// Reads of all keys under `nodes/` and `taken/`.
    package var reads = 0
    /// The keys that these reads return.
    package var keysRead = 0
    package var transactions = 0
    /// Events of control keys that the store sends to watching nodes.
    package var events = 0
    package var keepAlives = 0
  }

  /// The sums over the whole time.
  package private(set) var total = Second()
  /// The most of one second, each figure for itself.
  package private(set) var peak = Second()
  private var second = Second()
  private var number: VirtualTime = 0

  mutating func note(at time: VirtualTime, _ change: (inout Second) -> Void) {
    if time / 1_000_000 != number {
      close()
      number = time / 1_000_000
    }
    change(&second)
  }

  /// Adds the current second to the sums.
  mutating func close() {
    for figure in [\Second.reads, \.keysRead, \.transactions, \.events, \.keepAlives] {
      total[keyPath: figure] += second[keyPath: figure]
      peak[keyPath: figure] = max(peak[keyPath: figure], second[keyPath: figure])
    }
    second = Second()
  }
}
