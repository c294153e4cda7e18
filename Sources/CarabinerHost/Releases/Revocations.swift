internal import CarabinerRelease
internal import CarabinerSources
internal import Synchronization

/// The file of `--revoked` and the list of a fleet, as they were last read.
package final class Revocations: Sendable {
  /// The path of the file; nil for none.
  let path: String?
  /// The list that the source of the manifest has; nil for a source without such lists.
  let published: PublishedList?
  private let last = Mutex(RevocationList())
  /// The list of the file as it was last read; nil before that. Locked while both are read, so that older lists do not replace newer ones.
  private let reading = Mutex<RevocationList?>(nil)

  init(path: String?, published: PublishedList? = nil) {
    self.path = path
    self.published = published
  }

  /// Both lists as they were last read; empty before that.
  var current: RevocationList { last.withLock(\.self) }

  /// A list that cannot be used, and the reason.
  struct Fault: Sendable {
    /// The place of such a list.
    enum Place: Sendable, Hashable {
      case file
      /// The list that an earlier process has stored.
      case kept
      case source(PublishedRevocations?)
    }

    let error: ReleaseError
    let place: Place

    fileprivate var isOfSource: Bool { if case .source = place { true } else { false } }
  }

  /// Reads both lists.
  ///
  /// - Parameter ignoringSource: Whether a fault of the published list is ignored.
  /// - Throws: ``ReleaseError`` if one of them cannot be used.
  func read(by trust: TrustPolicy, ignoringSource: Bool = false) throws(ReleaseError) -> RevocationList {
    for fault in faults(readingBy: trust) where !(fault.isOfSource && ignoringSource) { throw fault.error }
    return current
  }

  /// Reads both lists. If one cannot be used, its earlier content stays in effect, and the other list is read nevertheless.
  func faults(readingBy trust: TrustPolicy) -> [Fault] {
    reading.withLock { file in
      var faults: [Fault] = []
      do throws(ReleaseError) {
        file = try path.map { path throws(ReleaseError) in try RevocationList(at: path) } ?? RevocationList()
      } catch {
        faults.append(Fault(error: error, place: .file))
      }
      do throws(ReleaseError) {
        try published?.load()
        do throws(ReleaseError) {
          // The file may revoke the key that signed the published list. Therefore no new list is accepted before the file was read.
          if let file { try published?.read(by: trust, except: file) }
        } catch {
          faults.append(Fault(error: error, place: .source(published?.published)))
        }
      } catch {
        faults.append(Fault(error: error, place: .kept))
      }
      let list = (file ?? RevocationList()).union(published?.list ?? RevocationList())
      last.withLock { $0 = list }
      return faults
    }
  }
}
