internal import CarabinerRelease
internal import Synchronization

/// The file of `--revoked` and the list of a fleet, as they were last read.
package final class Revocations: Sendable {
  /// The path of the file; nil for none.
  let path: String?
  /// The list that the source of the manifest has; nil for a source without such lists.
  let published: PublishedList?
  private let last = Mutex(RevocationList())
  /// The list of the file as it was last read. Locked while both are read, so that older lists do not replace newer ones.
  private let reading = Mutex(RevocationList())

  init(path: String?, published: PublishedList? = nil) {
    self.path = path
    self.published = published
  }

  /// Both lists as they were last read; empty before that.
  var current: RevocationList { last.withLock(\.self) }

  /// Reads both lists. If one of them cannot be used, it stays as it was, and the other one is read nevertheless.
  ///
  /// - Parameter ignoringPublished: Whether a fault of the published list is ignored.
  /// - Throws: ``ReleaseError`` if one of them cannot be used.
  @discardableResult
  func read(by trust: TrustPolicy, ignoringPublished: Bool = false) throws(ReleaseError) -> RevocationList {
    try reading.withLock { file throws(ReleaseError) in
      var faults: [ReleaseError] = []
      do throws(ReleaseError) {
        if let path { file = try RevocationList(at: path) }
      } catch {
        faults.append(error)
      }
      do throws(ReleaseError) {
        try published?.read(by: trust, except: file)
      } catch {
        if !ignoringPublished { faults.append(error) }
      }
      let list = file.union(published?.list ?? RevocationList())
      last.withLock { $0 = list }
      if let fault = faults.first { throw fault }
      return list
    }
  }
}
