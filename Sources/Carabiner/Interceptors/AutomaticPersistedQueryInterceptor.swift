internal import CarabinerDigest
internal import CarabinerWire
internal import FoundationEssentials

/// Sends the hash of a document first, and the document only if the server does not know the hash.
///
/// It is off by default. Subscriptions and uploads are sent with their documents: a subscription has no second attempt, and
/// an upload would send its files twice. If ``PersistedQueryConfiguration/sendsDocuments`` is false, only hashes are sent, at once and
/// for operations of all types. The state is kept in the context of the request, so one instance may serve many requests.
public final class AutomaticPersistedQueryInterceptor: GraphQLInterceptor {
  public var stageName: String { "persisted-queries" }

  /// The settings for persisted queries.
  public typealias Configuration = PersistedQueryConfiguration

  private enum Phase: Sendable, RequestContextKey {
    typealias Value = Phase

    case hashOnly
    case documentAndHash
    case documentOnly
  }

  private let configuration: Configuration?
  private let support: PersistedQuerySupport

  /// Creates an interceptor.
  ///
  /// - Parameters:
  ///   - configuration: The settings for persisted queries; nil for the ``WireOptions`` of the request.
  ///   - support: The list of endpoints that do not support persisted queries.
  public init(configuration: Configuration? = nil, support: PersistedQuerySupport = .shared) {
    self.configuration = configuration
    self.support = support
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let configuration = configuration ?? request.wireOptions.persistedQueries
    guard configuration.isEnabled, let document = request.sentDocument else { return await next(request) }
    guard configuration.sendsDocuments else {
      return await hashOnly(request, document, usesGET: configuration.usesGETForHashes, next)
    }
    guard request.operation.operationType != .subscription, !request.carriesFiles else { return await next(request) }
    let endpoint = request.graphQLEndpoint.absoluteString
    // The protocols over WebSocket have no message without a document: servers close the connection.
    if ["ws", "wss"].contains(request.graphQLEndpoint.scheme?.lowercased()) { return await next(request) }
    let phase = support.isRefused(by: endpoint) ? .documentOnly : request.context[Phase.self] ?? .hashOnly
    var persisted = request
    if phase == .hashOnly {
      persisted.wireOverrides.document = .omitted
      if configuration.usesGETForHashes { persisted.wireOverrides.usesGET = true }
    }
    persisted.wireOverrides.extensions["persistedQuery"] = phase == .documentOnly ? nil : Self.persisted(Self.hash(of: document))
    return await next(persisted).map { result in
      guard phase != .documentOnly, let refusal = PersistedQueryRefusal(result.result.errors ?? []) else { return result }
      switch (phase, refusal) {
      case (.hashOnly, .notFound): request.context[Phase.self] = .documentAndHash
      case (_, .notSupported):
        self.support.refused(by: endpoint)
        request.context[Phase.self] = .documentOnly
      case (_, .notFound): throw AutomaticPersistedQueryError(operationName: request.operation.operationName)
      }
      throw RequestChain<Request>.Retry(request: request)
    }
  }

  /// Sends a request without its document. There is no second attempt.
  private func hashOnly<Request: GraphQLRequest>(
    _ request: Request, _ document: String, usesGET: Bool, _ next: NextInterceptorFunction<Request>
  ) async -> InterceptorResultStream<Request> {
    let (operation, isOwn) = (request.operation, request.wireOverrides.document == .original)
    var persisted = request
    persisted.wireOverrides.document = .omitted
    persisted.wireOverrides.extensions["persistedQuery"] = Self.persisted(
      (isOwn ? operation.ownIdentifier : nil) ?? Self.hash(of: document))
    if usesGET { persisted.wireOverrides.usesGET = true }
    return await next(persisted).map { result in
      guard PersistedQueryRefusal(result.result.errors ?? []) == nil else {
        throw AutomaticPersistedQueryError(operationName: operation.operationName, isPersistedOnly: true)
      }
      return result
    }
  }

  public var traits: InterceptorHints { .bindsNoTaskLocals }

  public func isIdle<Request: GraphQLRequest>(for request: Request) -> Bool {
    !(configuration ?? request.wireOptions.persistedQueries).isEnabled
  }

  private static func persisted(_ hash: String) -> JSONValue { ["version": 1, "sha256Hash": .string(hash)] }

  static func hash(of document: String) -> String {
    Digest.sha256(Array(document.utf8)).hexDigits
  }
}

/// The server rejected a document that was sent together with its hash, or a hash whose document may not be sent.
public struct AutomaticPersistedQueryError: DescribedError, Sendable, Hashable {
  /// The code of this error in the documentation: `persistedQueryRetryFailed` or `persistedQueryNotFoundForPersistedOnlyQuery`.
  public let code: String
  /// The name of the operation; nil for an anonymous one.
  public let operationName: String?

  init(operationName: String?, isPersistedOnly: Bool = false) {
    code = isPersistedOnly ? Self.notFound : "persistedQueryRetryFailed"
    self.operationName = operationName
  }

  private static let notFound = "persistedQueryNotFoundForPersistedOnlyQuery"

  public var description: String {
    let name = operationName ?? "an anonymous operation"
    return code == Self.notFound
      ? "the server does not know the persisted query of \(name), and its document may not be sent; register the document with the "
        + "server [\(code)]"
      : "the server did not find the persisted query of \(name) although it was sent with its document; turn persisted queries off, or "
        + "check the store of the server [\(code)]"
  }
}

extension GraphQLRequest {
  /// The document that is sent; nil if none is.
  fileprivate var sentDocument: String? {
    switch wireOverrides.document {
    case .original: operation.document
    case .replaced(let document): document
    case .omitted: nil
    }
  }
}

extension Sequence<UInt8> {
  /// Two lower-case digits for each byte.
  package var hexDigits: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * underestimatedCount)
    for byte in self {
      digits.append((byte >> 4).hexDigit)
      digits.append((byte & 15).hexDigit)
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var hexDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") - 10 + self }
}
