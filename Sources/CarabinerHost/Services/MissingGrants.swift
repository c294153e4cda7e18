internal import Synchronization

/// The services that plugins asked for and were not granted, for those who check a manifest.
///
/// A plugin may ask to find out what it can do, so this is no fault; a person who forgot a grant looks for it for long.
package enum MissingGrants {
  /// A service an entry asked for.
  package struct Request: Sendable, Hashable {
    /// The entry's name in the manifest.
    package let entry: String
    /// What `grants` would call the service.
    package let grant: String
  }

  /// How many are remembered; entries and services are few.
  private static let maximumCount = 1024
  private static let noted = Mutex<Set<Request>>([])

  /// All that were asked for since the process began.
  package static var all: Set<Request> { noted.withLock(\.self) }

  static func note(_ grant: String, entry: String) {
    noted.withLock { noted in
      if noted.count < maximumCount { noted.insert(Request(entry: entry, grant: grant)) }
    }
  }
}
