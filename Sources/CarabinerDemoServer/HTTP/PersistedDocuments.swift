internal import Carabiner
internal import CarabinerDigest
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// Documents that clients sent with their hashes. Later requests may send only the hash.
final class PersistedDocuments: Sendable {
  private struct State {
    var documents: [String: String] = [:]
    /// The hashes, the oldest first.
    var order: [String] = []
    var bytes = 0
  }

  /// The default limit for all stored documents in bytes. The oldest documents are removed first.
  static let maximumBytes = 16 << 20

  private let maximumBytes: Int
  private let state = Mutex(State())

  init(maximumBytes: Int = PersistedDocuments.maximumBytes) { self.maximumBytes = maximumBytes }

  /// The document of a request.
  ///
  /// - Throws: A ``RequestRefusal``: status 200 and `PERSISTED_QUERY_NOT_FOUND` if only a hash was sent and it is unknown, 400 if the
  ///   hash does not match the document.
  func document(for parameters: GraphQLParameters) throws(RequestRefusal) -> String {
    switch (parameters.query, parameters.hash) {
    case (let query?, nil): return query
    case (let query?, let hash?):
      guard Digest.sha256(Array(query.utf8)).hexDigits == hash else {
        throw RequestRefusal(400, "sha256Hash is not the SHA-256 of the query, in lower-case hexadecimal digits")
      }
      keep(query, hash)
      return query
    case (nil, let hash):
      guard let hash, let query = state.withLock({ $0.documents[hash] }) else {
        throw RequestRefusal(200, "PersistedQueryNotFound", code: "PERSISTED_QUERY_NOT_FOUND", headers: Self.uncached)
      }
      return query
    }
  }

  /// Headers that prevent proxies from caching the refusal for other clients.
  static let uncached = ["Cache-Control": "private, no-cache, must-revalidate"]

  private func keep(_ query: String, _ hash: String) {
    state.withLock { state in
      guard state.documents.updateValue(query, forKey: hash) == nil else { return }
      state.order.append(hash)
      state.bytes += query.utf8.count
      while state.bytes > maximumBytes, let oldest = state.order.first {
        state.order.removeFirst()
        state.bytes -= state.documents.removeValue(forKey: oldest)?.utf8.count ?? 0
      }
    }
  }
}
