internal import Synchronization

/// Counts the bytes in the buffers of one plugin, up to a limit.
package final class BufferAccount: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  package init(limit: Int) { self.limit = limit }

  /// Counts bytes of a new buffer. Returns false, and counts nothing, if they exceed the limit.
  package func take(_ count: Int) -> Bool {
    guard used.add(count, ordering: .relaxed).newValue <= limit else {
      give(count)
      return false
    }
    return true
  }

  /// Subtracts the bytes of a released buffer.
  package func give(_ count: Int) { used.subtract(count, ordering: .relaxed) }
}
