internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// A file of a web server, which sends it only if it has changed.
final class WebFile: Sendable {
  private struct Version {
    let bytes: [UInt8]
    /// The entity tag.
    let validator: String
  }

  private static let maximumValidatorBytes = 1024

  /// The URL without its query, for messages.
  let label: String
  private let url: URL
  private let maximumBytes: Int
  private let connection: WebConnection
  /// The last version that had an entity tag.
  private let known = Mutex<Version?>(nil)

  init(_ url: URL, maximumBytes: Int, over connection: WebConnection) {
    self.url = url
    self.maximumBytes = maximumBytes
    self.connection = connection
    label = PrintableURL(url).withoutQuery
  }

  /// The file as it is now; nil if there is none.
  func bytes() async throws(SourceError) -> [UInt8]? {
    let last = known.withLock(\.self)
    let answer = try await connection.get(url, knowing: last?.validator, maximumBytes: maximumBytes, label)
    switch answer {
    case .unchanged: return last?.bytes
    case .missing:
      known.withLock { $0 = nil }
      return nil
    case .bytes(let bytes, let validator):
      known.withLock { $0 = validator.flatMap { Self.isUsable($0) ? Version(bytes: bytes, validator: $0) : nil } }
      return bytes
    }
  }

  /// Whether an entity tag can be sent back.
  private static func isUsable(_ validator: String) -> Bool {
    validator.utf8.count <= maximumValidatorBytes && HTTPHeaders.Field(name: "If-None-Match", value: validator).isWellFormed
  }
}
