internal import CarabinerRelease
internal import Synchronization

/// The file of `--revoked`, and its list as it was last read.
package final class Revocations: Sendable {
  let path: String
  private let last = Mutex(RevocationList())
  /// Locked while the file is read, so that an older list does not replace a newer one.
  private let reading = Mutex(())

  package init(path: String) { self.path = path }

  /// The list as it was last read; empty before that.
  var current: RevocationList { last.withLock(\.self) }

  /// Reads the file.
  ///
  /// - Throws: ``ReleaseError`` if it cannot be used. ``current`` stays.
  @discardableResult
  func read() throws(ReleaseError) -> RevocationList {
    try reading.withLock { _ throws(ReleaseError) in
      let list = try RevocationList(at: path)
      last.withLock { $0 = list }
      return list
    }
  }
}
