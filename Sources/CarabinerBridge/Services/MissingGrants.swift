internal import Synchronization

/// The services that plugins queried without a grant, for commands that check a manifest.
///
/// A plugin may query a service to find out whether it is available, so this is not an error. The list helps to find a
/// forgotten grant.
package enum MissingGrants {
  /// A query of a service without a grant.
  package struct Request: Sendable, Hashable {
    /// The entry's name in the manifest.
    package let entry: String
    /// The service's name in `grants`.
    package let grant: String
  }

  /// How many queries are remembered.
  private static let maximumCount = 1024
  private static let noted = Mutex<Set<Request>>([])

  /// All queries without a grant since the process started.
  package static var all: Set<Request> { noted.withLock(\.self) }

  static func note(_ grant: String, entry: String) {
    noted.withLock { noted in
      if noted.count < maximumCount { noted.insert(Request(entry: entry, grant: grant)) }
    }
  }
}
