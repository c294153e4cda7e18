public import Carabiner
internal import FoundationEssentials

/// Asks the delegate of a transport about each HTTP request, and shows it each response.
///
/// It belongs at the end of the HTTP interceptors, so that the delegate sees the request as it is sent. It reads the whole body before it
/// returns, so results of a response in parts arrive together.
///
/// To use a delegate in a chain of the core, make this interceptor in ``Carabiner/InterceptorProvider/interceptors(for:context:)`` with
/// the context of the request, and ``DelegateRetryInterceptor`` beside it.
public struct DelegatePreflightInterceptor: HTTPInterceptor {
  /// The default for the maximal length of a body in bytes: 64 MiB, as in the transport.
  public static let defaultMaximumBodyBytes = 64 << 20

  public var stageName: String { "delegate" }

  private let transport: HTTPNetworkTransport
  private let context: Carabiner.RequestContext
  private let maximumBodyBytes: Int
  private let checksStatus: Bool

  /// An interceptor for one request.
  ///
  /// - Parameters:
  ///   - transport: The transport whose delegate is asked, and that the delegate's methods get.
  ///   - context: The context of the request.
  ///   - maximumBodyBytes: The maximal length of a body. A longer one is an error.
  public init(
    _ transport: HTTPNetworkTransport, context: Carabiner.RequestContext,
    maximumBodyBytes: Int = DelegatePreflightInterceptor.defaultMaximumBodyBytes
  ) {
    self.init(transport, context: context, maximumBodyBytes: maximumBodyBytes, checksStatus: true)
  }

  init(_ transport: HTTPNetworkTransport, context: Carabiner.RequestContext, maximumBodyBytes: Int, checksStatus: Bool) {
    self.transport = transport
    self.context = context
    self.maximumBodyBytes = maximumBodyBytes
    self.checksStatus = checksStatus
  }

  public func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> Carabiner.HTTPResponse {
    context[DelegateAttempt.self] = nil
    let request = try prepared(request)
    try Task.checkCancellation()
    var attempt = DelegateAttempt(request: request)
    do {
      let response = try await next(request)
      attempt.response = response.response
      try await read(response, into: &attempt.body)
    } catch let retry as HTTPRetry {
      throw retry
    } catch {
      attempt.note(Task.isCancelled ? CancellationError() : error)
      context[DelegateAttempt.self] = attempt
      complete(attempt)
      throw error
    }
    context[DelegateAttempt.self] = attempt
    complete(attempt)
    let head = attempt.response ?? HTTPURLResponse(url: request.url, statusCode: 200)
    let response = Carabiner.HTTPResponse(response: head, chunks: PullStream(attempt.body))
    return checksStatus ? try await DelegateStatusInterceptor.checked(response) : response
  }

  /// The request as the delegate leaves it.
  private func prepared(_ request: URLRequest) throws -> URLRequest {
    guard let delegate = transport.delegate as? any HTTPNetworkTransportPreflightDelegate else { return request }
    guard delegate.networkTransport(transport, shouldSend: request) else { throw GraphQLHTTPRequestError.cancelledByDelegate }
    var request = request
    delegate.networkTransport(transport, willSend: &request)
    return request
  }

  private func read(_ response: Carabiner.HTTPResponse, into body: inout Data) async throws {
    for try await chunk in response.chunks {
      guard body.count + chunk.count <= maximumBodyBytes else {
        throw TransportError(
          .bodyTooLarge,
          "the response is longer than \(maximumBodyBytes) bytes; request less, or raise maximumBodyBytes of the transport",
          url: PrintableURL(response.response.url).withoutQuery, mayHaveBeenSent: true, responseBegan: true)
      }
      body.append(chunk)
    }
  }

  private func complete(_ attempt: DelegateAttempt) {
    guard let delegate = transport.delegate as? any HTTPNetworkTransportTaskCompletedDelegate else { return }
    delegate.networkTransport(
      transport, didCompleteRawTaskForRequest: attempt.request, withData: attempt.response == nil ? nil : attempt.body,
      response: attempt.response, error: attempt.error)
  }
}

extension DelegateAttempt {
  /// Keeps the error of a transfer, and what a client had received before it.
  fileprivate mutating func note(_ error: any Error) {
    self.error = error
    guard case .networkError(let data, let head, let cause) = error as? URLSessionClient.URLSessionClientError else { return }
    self.error = cause
    if let head { (response, body) = (head, data) }
  }
}

/// Refuses responses whose status is not 200 to 299, with their whole body, unless they reject the hash of a persisted query.
struct DelegateStatusInterceptor: HTTPInterceptor {
  var stageName: String { "response-code" }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> Carabiner.HTTPResponse {
    try await Self.checked(try await next(request))
  }

  static func checked(_ response: Carabiner.HTTPResponse) async throws -> Carabiner.HTTPResponse {
    guard !response.response.isSuccessful else { return response }
    let body = try await response.chunks.collected()
    guard PersistedQueryRefusal(response.response, body: body) == nil else {
      return Carabiner.HTTPResponse(response: response.response, chunks: PullStream(body))
    }
    throw GraphQLHTTPResponseError(body: body, response: response.response, kind: .errorResponse)
  }
}
