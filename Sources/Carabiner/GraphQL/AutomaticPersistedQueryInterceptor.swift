internal import CarabinerWire
internal import Crypto
internal import FoundationEssentials
internal import Synchronization

/// Sends the hash of a document first and the document only if the server does not know it.
///
/// It is off unless configured. Results of the request pass through untouched.
public final class AutomaticPersistedQueryInterceptor: GraphQLInterceptor {
  /// How persisted queries are used.
  public struct Configuration: Sendable, Hashable {
    /// Whether hashes are sent at all.
    public var isEnabled: Bool

    /// A configuration; off unless told otherwise.
    public init(isEnabled: Bool = false) { self.isEnabled = isEnabled }
  }

  private enum Phase {
    case hashOnly
    case documentAndHash
    case documentOnly
  }

  private let configuration: Configuration
  private let phase = Mutex(Phase.hashOnly)

  /// An interceptor for one request.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    guard configuration.isEnabled, request.operation.operationType != .subscription else { return await next(request) }
    let phase = phase.withLock { $0 }
    var persisted = request
    persisted.wireOverrides.document = phase == .hashOnly ? .omitted : .original
    persisted.wireOverrides.extensions["persistedQuery"] =
      phase == .documentOnly
      ? nil : ["version": 1, "sha256Hash": .string(Self.hash(of: request.operation.document))]
    return await next(persisted).map { [persisted] result in
      guard phase != .documentOnly, let refusal = PersistedQueryRefusal(result.result.errors ?? []) else { return result }
      switch (phase, refusal) {
      case (.hashOnly, .notFound): self.phase.withLock { $0 = .documentAndHash }
      case (_, .notSupported): self.phase.withLock { $0 = .documentOnly }
      case (_, .notFound): throw AutomaticPersistedQueryError(operationName: request.operation.operationName)
      }
      throw RequestChain<Request>.Retry(request: persisted)
    }
  }

  public var traits: StageTraits { .bindsNoTaskLocals }

  static func hash(of document: String) -> String {
    SHA256.hash(data: Data(document.utf8)).hexDigits
  }
}

/// The server refused a document together with its hash.
public struct AutomaticPersistedQueryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it was, as it is named in documentation.
  public let code = "persistedQueryRetryFailed"
  /// Which operation it was; nil for an anonymous one.
  public let operationName: String?

  public var description: String {
    "the server does not find the persisted query of \(operationName ?? "an anonymous operation") although it was sent with its "
      + "document; turn persisted queries off or look at the server's store [\(code)]"
  }
}

/// What a server says about a hash it cannot use.
private enum PersistedQueryRefusal {
  case notFound
  case notSupported

  init?(_ errors: [GraphQLError]) {
    if errors.contains(where: { $0.message == "PersistedQueryNotFound" || $0.code == "PERSISTED_QUERY_NOT_FOUND" }) {
      self = .notFound
    } else if errors.contains(where: {
      $0.message == "PersistedQueryNotSupported" || $0.code == "PERSISTED_QUERY_NOT_SUPPORTED"
    }) {
      self = .notSupported
    } else {
      return nil
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
