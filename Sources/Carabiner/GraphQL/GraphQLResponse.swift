public import CarabinerWire
internal import FoundationEssentials
internal import Synchronization

/// One result of an operation.
///
/// It stores the bytes of the response. `data` is decoded when it is first read, and then stored. `errors` is decoded at each
/// read.
public struct GraphQLResponse<Operation: GraphQLOperation>: Sendable {
  /// The source of a result.
  public enum Source: String, Sendable, Hashable {
    case cache
    case server
    /// An interceptor created it.
    case interceptor
  }

  /// The whole response as JSON bytes, with the places of its members.
  public var body: ResponseBody { content.body }
  /// The body, if it is passed on while it arrives; nil for all others. ``body`` has no data then.
  package var passedBody: PassedBody? { content.passedBody }
  /// The further results of a subscription, for a caller that reads them without the stages of the chain; nil for all others.
  package var passedResults: StreamedResults? { content.passedResults }
  /// The source of the result.
  public var source: Source
  /// The head of the HTTP response; nil if the result did not come over HTTP.
  public var httpResponse: HTTPURLResponse? {
    get { content.httpResponse }
    set {
      content = ResponseContent(
        body: content.body, httpResponse: newValue, tape: content.tape, passedBody: content.passedBody,
        passedResults: content.passedResults)
    }
  }
  /// The status of the HTTP response; nil if the result did not come over HTTP. Reading it does not copy ``httpResponse``.
  package var statusCode: Int? { content.httpResponse?.statusCode }
  /// The position of the result in a response that arrives in parts; nil if it arrived whole.
  public var delivery: ResultDelivery?

  /// A single reference, because each stage that passes a result on updates the reference counts.
  private var content: ResponseContent

  /// Creates a response from its bytes.
  public init(body: ResponseBody, source: Source = .server, httpResponse: HTTPURLResponse? = nil) {
    self.init(body: body, source: source, httpResponse: httpResponse, tape: nil)
  }

  /// Creates a response with known places of its values.
  init(body: ResponseBody, source: Source, httpResponse: HTTPURLResponse?, tape: JSONTape?) {
    content = ResponseContent(body: body, httpResponse: httpResponse, tape: tape)
    self.source = source
  }

  /// Creates a response whose body is passed on.
  init(passing body: PassedBody, httpResponse: HTTPURLResponse) {
    content = ResponseContent(body: .unread, httpResponse: httpResponse, tape: nil, passedBody: body)
    source = .server
  }

  /// Creates a result of the server whose successors may be passed on.
  init(_ body: ResponseBody, httpResponse: HTTPURLResponse, passing successors: StreamedResults?) {
    content = ResponseContent(body: body, httpResponse: httpResponse, tape: nil, passedResults: successors)
    source = .server
  }

  /// Creates a response from JSON.
  ///
  /// - Throws: ``ResponseParsingError`` if `json` is not a GraphQL response.
  public init(json: JSONValue, source: Source = .interceptor) throws {
    self.init(body: try ResponseBody(Data(json.serialized())), source: source)
  }

  /// The `data` member, decoded; nil if it is absent or null.
  ///
  /// - Throws: ``ResponseParsingError`` with code `dataMismatch` if it does not fit `Operation.Data`.
  public var data: Operation.Data? {
    get throws {
      try content.decoded { tape in
        guard let bytes = body.data, bytes != ResponseBody.null else { return nil }
        return try Self.decode(bytes, of: body, tape)
      }
    }
  }

  /// Checks that the data fits the type that the caller wants.
  @inline(__always) func checkType() throws {
    if Operation.Data.self != JSONValue.self { _ = try data }
  }

  /// The `errors` member; nil if it is absent.
  public var errors: [GraphQLError]? {
    guard let bytes = body.errors, case .array(let entries)? = try? JSONValue(parsing: [UInt8](bytes)) else { return nil }
    return entries.map { GraphQLError($0.object ?? ["message": $0]) }
  }

  /// Whether the `errors` member has entries.
  public var hasErrors: Bool { body.hasErrors }

  /// The `extensions` member; nil if it is absent.
  public var extensions: JSONObject? {
    body.extensions.flatMap { try? JSONValue(parsing: [UInt8]($0)).object }
  }

  /// The deferred fragments that a result from the cache lacks.
  ///
  /// If ``hasNext`` is true, they follow with the results of the server.
  public var pendingFragments: [PendingFragment] { delivery?.pending ?? [] }

  /// Whether more results follow. For a subscription, whether more may follow.
  public var hasNext: Bool { delivery?.hasNext ?? false }

  /// The path of the field that cannot be decoded, and the reason.
  private static func misfit(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context): return "the field \((context.codingPath + [key]).fieldPath) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "at the field \(context.codingPath.fieldPath): \(context.debugDescription)"
    default:
      guard case .dataCorrupted(let context) = error else { return "\(error)" }
      return "at the field \(context.codingPath.fieldPath): \(context.debugDescription)"
    }
  }

  private static func decode(_ bytes: Data, of body: ResponseBody, _ tape: JSONTape?) throws -> Operation.Data {
    do {
      if let tape, let place = body.dataPlace(on: tape) {
        return try Operation.data(reading: ValueReader(tape.graphQLDecoder(of: [UInt8](body.bytes), at: place)))
      }
      if Operation.Data.self == JSONValue.self, let value = try JSONValue(parsing: [UInt8](bytes)) as? Operation.Data {
        return value
      }
      return try Operation.data(reading: ValueReader(JSONTapeDecoder(reading: [UInt8](bytes))))
    } catch {
      throw ResponseParsingError(
        .dataMismatch,
        "the response's data does not fit \(Operation.Data.self): \(Self.misfit(error)); compare the operation with the server's schema",
        cause: error)
    }
  }
}

extension [any CodingKey] {
  /// The path as text, such as `hero.friends[1].name`.
  fileprivate var fieldPath: String {
    reduce(into: "") { path, key in
      if let index = key.intValue { path += "[\(index)]" } else { path += path.isEmpty ? key.stringValue : ".\(key.stringValue)" }
    }
  }
}

/// The content that all copies of a response share. The data is decoded when it is first read.
///
/// Not generic: each request creates one, and the metadata of a generic class would be looked up each time.
private final class ResponseContent: Sendable {
  private enum Contents {
    /// Not decoded yet; with the places of the values, if they are known.
    case located(JSONTape?)
    case decoded((any Sendable)?)
  }

  let body: ResponseBody
  let httpResponse: HTTPURLResponse?
  let passedBody: PassedBody?
  let passedResults: StreamedResults?
  private let data: Mutex<Contents>

  init(
    body: ResponseBody, httpResponse: HTTPURLResponse?, tape: JSONTape?, passedBody: PassedBody? = nil,
    passedResults: StreamedResults? = nil
  ) {
    self.body = body
    self.httpResponse = httpResponse
    self.passedBody = passedBody
    self.passedResults = passedResults
    data = Mutex(.located(tape))
  }

  /// The places of the values; nil once the data is decoded.
  var tape: JSONTape? { data.withLock { if case .located(let tape) = $0 { tape } else { nil } } }

  func decoded<Value: Sendable>(_ make: (JSONTape?) throws -> Value?) throws -> Value? {
    switch data.withLock({ $0 }) {
    case .decoded(let value): return value as? Value
    case .located(let tape):
      let made = try make(tape)
      data.withLock { $0 = .decoded(made) }
      return made
    }
  }
}
