internal import Synchronization

/// How many bytes of buffers one plugin holds, and how many it may.
package final class BufferAccount: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Counts bytes; false if that were too many.
  func take(_ count: Int) -> Bool {
    guard used.add(count, ordering: .relaxed).newValue <= limit else {
      give(count)
      return false
    }
    return true
  }

  /// The plugin holds these no more.
  func give(_ count: Int) { used.subtract(count, ordering: .relaxed) }
}
