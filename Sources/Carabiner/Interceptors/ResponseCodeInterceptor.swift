internal import CarabinerWire
public import FoundationEssentials

/// Throws ``ResponseCodeError`` for a response whose status is not 200 to 299, as soon as its head arrives.
///
/// A response with the media type `application/graphql-response+json` passes with any status, because its body is a GraphQL response. So
/// does a response of `application/json` with a status of 400 to 499 that rejects the hash of a persisted query: the client then sends
/// the document.
public struct ResponseCodeInterceptor: HTTPInterceptor {
  public var stageName: String { "response-code" }

  /// The maximal number of bytes of the body in the error.
  public static let bodyPrefixLimit = 4096

  private let passesGraphQLErrors: Bool

  /// Creates a step that checks the status.
  ///
  /// - Parameter passesGraphQLErrors: Whether a response of `application/json` with the status 400 to 499 passes if its body is a
  ///   GraphQL response with errors, as some servers answer an operation that is not valid. 401, 403, 407, 408 and 429 never pass.
  public init(passesGraphQLErrors: Bool = false) { self.passesGraphQLErrors = passesGraphQLErrors }

  public func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let response = try await next(request)
    if passes(response.response) { return response }
    if passesGraphQLErrors, response.response.mayHoldGraphQLErrors { return try await graphQLErrors(in: response) }
    let body = await bodyPrefix(of: response.chunks)
    guard PersistedQueryRefusal(response.response, body: body) == nil else {
      return HTTPResponse(response: response.response, chunks: PullStream(body))
    }
    throw ResponseCodeError(response: response.response, body: body)
  }

  public var traits: InterceptorHints { [.bindsNoTaskLocals, .seesOnlyHeads] }

  public func passes(_ head: HTTPURLResponse) -> Bool { head.isSuccessful || head.isGraphQLResponse }

  /// The response with its body read.
  ///
  /// - Throws: ``ResponseCodeError`` if the body is not a GraphQL response with errors.
  private func graphQLErrors(in response: HTTPResponse) async throws -> HTTPResponse {
    let body = try await response.chunks.collected()
    guard body.isGraphQLErrorResponse else {
      throw ResponseCodeError(response: response.response, body: body.prefix(Self.bodyPrefixLimit))
    }
    return HTTPResponse(response: response.response, chunks: PullStream(body))
  }

  /// Returns the first bytes of the body. An incomplete error page is also useful in a message.
  private func bodyPrefix(of chunks: PullStream<Data>) async -> Data {
    var prefix = Data()
    var iterator = chunks.makeAsyncIterator()
    while prefix.count < Self.bodyPrefixLimit, let chunk = try? await iterator.next() {
      prefix.append(chunk.prefix(Self.bodyPrefixLimit - prefix.count))
    }
    return prefix
  }
}

/// A server answered with a status that is not 200 to 299.
public struct ResponseCodeError: DescribedError, Sendable {
  /// The head of the response.
  public let response: HTTPURLResponse
  /// The first bytes of its body, at most ``ResponseCodeInterceptor/bodyPrefixLimit``.
  public let body: Data

  /// Creates an error.
  public init(response: HTTPURLResponse, body: Data) {
    self.response = response
    self.body = body
  }

  public var description: String {
    let text = body.isEmpty ? "without a body" : "with the body: \(String(decoding: body.prefix(200), as: UTF8.self))"
    return "\(PrintableURL(response.url)) answered with status \(response.statusCode) \(text)"
  }
}

extension Data {
  /// Whether these bytes are a GraphQL response whose `errors` has entries, each with a message.
  package var isGraphQLErrorResponse: Bool {
    guard let body = try? ResponseBody(self), let bytes = body.errors, let errors = try? JSONValue(parsing: [UInt8](bytes)).array
    else { return false }
    return !errors.isEmpty && errors.allSatisfy { $0["message"]?.string != nil }
  }
}
