/// The timers of a loop, soonest first.
struct EventLoopTimers {
  struct Timer {
    let id: UInt64
    /// The due time, in nanoseconds of the monotonic clock.
    let due: UInt64
    let body: @Sendable () -> Void
  }

  enum Change {
    case arm(Timer)
    case cancel(UInt64)
  }

  /// A binary heap by due time. Cancelled timers are removed once they are more than half of it.
  private var heap: [Timer] = []
  private var armed: Set<UInt64> = []

  mutating func apply(_ change: Change) {
    switch change {
    case .arm(let timer):
      armed.insert(timer.id)
      heap.append(timer)
      siftUp(heap.count - 1)
    case .cancel(let id):
      armed.remove(id)
      if heap.count > Self.smallHeap, armed.count < heap.count / 2 { removeCancelled() }
    }
  }

  /// A heap up to this size is not cleaned up.
  private static let smallHeap = 64

  /// The number of timers, including cancelled ones that are still in the heap.
  var count: Int { heap.count }

  private mutating func removeCancelled() {
    heap.removeAll { !armed.contains($0.id) }
    // A sorted list is a heap.
    heap.sort { $0.due < $1.due }
  }

  /// Milliseconds until the next timer is due, rounded up; nil if there is none.
  func millisecondsToNext() -> Int? { heap.first.map { MonotonicTime.milliseconds(until: $0.due) } }

  /// Removes and returns the timers that are due.
  mutating func takeDue() -> [@Sendable () -> Void] {
    guard !heap.isEmpty else { return [] }
    let now = MonotonicTime.now
    var due: [@Sendable () -> Void] = []
    while let first = heap.first, first.due <= now {
      removeFirst()
      if armed.remove(first.id) != nil { due.append(first.body) }
    }
    return due
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].due < heap[smallest].due { smallest = child }
      }
      guard smallest != parent else { return }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }

  private mutating func siftUp(_ index: Int) {
    var child = index
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }
}
