internal import Synchronization

/// The documents that were read last.
final class DocumentCache: Sendable {
  /// The maximum number of documents.
  private static let maximumCount = 256
  /// A longer document is read for each call.
  private static let maximumBytes = 32 << 10

  private let documents = Mutex<[String: Document]>([:])

  /// - Throws: ``CarabinerPlugin/PluginFailure`` if the text is not a document.
  func document(_ text: String) throws -> Document {
    if let known = documents.withLock({ $0[text] }) { return known }
    let document = try Document(text)
    guard text.utf8.count <= Self.maximumBytes else { return document }
    documents.withLock { documents in
      if documents.count >= Self.maximumCount { documents.removeAll() }
      documents[text] = document
    }
    return document
  }
}
