internal import Carabiner
internal import CarabinerWire

extension Manifest {
  /// The settings of Connect and gRPC-Web calls.
  package struct Connect: Sendable, Hashable {
    /// The notation of messages.
    package enum Codec: String, Sendable, Hashable, CaseIterable {
      case json
      case proto
    }

    /// The messages that are sent by GET, if a call has no side effects.
    package enum GET: Sendable, Hashable {
      case never
      case always
      /// Messages of at most this many bytes, as they are sent.
      case upTo(Int)
    }

    package var codec = Codec.json
    package var get = GET.never
    /// The size in bytes from which messages are compressed; nil if they never are.
    package var compressFrom: Int?
    /// The timeout of a call, interceptors included; nil for none.
    package var timeout: Duration?

    /// JSON by POST, not compressed.
    package init() {}
  }

  static let protocolPointer = JSONPointer(components: ["protocol"])

  /// Throws unless the manifest is for GraphQL.
  ///
  /// - Parameter remedy: The next step for the operator.
  package func requireGraphQL(_ remedy: String) throws(ManifestError) {
    guard callProtocol != .graphQL else { return }
    try refuseProtocol("this manifest is for calls by protocol: \(callProtocol.rawValue), and not for GraphQL; \(remedy)")
  }

  /// Throws if the manifest is for GraphQL.
  ///
  /// - Parameter remedy: The next step for the operator.
  package func requireCalls(_ remedy: String) throws(ManifestError) {
    guard callProtocol == .graphQL else { return }
    try refuseProtocol("this manifest is for GraphQL, and not for calls of Connect or gRPC-Web; \(remedy)")
  }

  /// Checks that a reload does not change the protocol.
  package func requireProtocol(of predecessor: Manifest) throws(ManifestError) {
    guard callProtocol != predecessor.callProtocol else { return }
    try refuseProtocol(
      "the protocol cannot change while the host runs, from \(predecessor.callProtocol.rawValue) to \(callProtocol.rawValue); "
        + "change it back, or restart")
  }

  private func refuseProtocol(_ message: String) throws(ManifestError) {
    throw ManifestError(path: path, problems: placed([ManifestProblem(.invalidValue, at: Self.protocolPointer, message)]))
  }
}
