internal import Carabiner
internal import FoundationEssentials

/// One request of a client and the results of its response.
struct ClientExchange: Sendable {
  private let client: Transferred<URLSessionClient>
  private let chain: HTTPChain
  private let limits: ResponseLimits
  private let request: URLRequest
  private let transfer: ClientTransfer
  private let call: FetchCall?
  private let setupError: (any Error)?

  init(
    client: Transferred<URLSessionClient>, transport: any HTTPTransport, stages: (any Carabiner.InterceptorProvider)?,
    limits: ResponseLimits?, request: URLRequest, transfer: ClientTransfer, call: FetchCall?
  ) {
    self.client = client
    self.request = request.adding(client.value.session.configuration.httpAdditionalHeaders)
    self.transfer = transfer
    self.call = call
    let context = call?.stages?.context ?? Carabiner.RequestContext(tracer: call?.tracer)
    let operation = call?.operation ?? .unknown
    let made = Result {
      try call?.stages?.interceptors ?? stages?.interceptors(for: operation.described, context: context)
    }
    // The list has an interceptor for the status, which gets the whole body.
    let found = try? made.get()
    let interceptors = (found?.http ?? []).filter { !($0 is Carabiner.ResponseCodeInterceptor) }
    self.limits = limits ?? (found?.parser as? Carabiner.JSONResponseParsingInterceptor)?.limits ?? ResponseLimits()
    chain = HTTPChain(interceptors: interceptors, transport: transport, context: context)
    if case .failure(let error) = made { setupError = error } else { setupError = nil }
  }

  /// Sends the request and delivers its results.
  func run() async {
    do {
      if let setupError { throw setupError }
      let request = request
      let make: @Sendable () -> URLRequest = {
        var request = request
        request.takesParts = true
        return request
      }
      try await chain.send(make, reading: deliver)
      client.value.urlSession(session, task: transfer.task, didCompleteWithError: nil)
    } catch {
      let error = Task.isCancelled ? CancellationError() : error
      client.value.urlSession(session, task: transfer.task, didCompleteWithError: error)
      transfer.failTransfer(error)
    }
  }

  private var session: URLSession { client.value.session }

  private func deliver(_ response: Carabiner.HTTPResponse) async throws {
    let head = response.response
    transfer.received(head)
    let disposition = try await DelegateDecision.answer(unanswered: URLSession.ResponseDisposition.cancel) { decide in
      client.value.urlSession(session, dataTask: transfer.task, didReceive: head, completionHandler: decide)
    }
    guard disposition != .cancel else { throw CancellationError() }
    let isWhole = !head.isMultipart || !head.isSuccessful
    let watched = response.mapChunks { _, chunk in
      transfer.received(chunk, isWhole: isWhole)
      client.value.urlSession(session, dataTask: transfer.task, didReceive: chunk)
      return chunk
    }
    guard isWhole else { return try await deliverParts(of: watched) }
    transfer.deliver(try await wholeBody(of: watched), head, isLast: true)
    await call?.gate.wait()
  }

  /// The body of a response that is not read by part. The transport has no limit for a body in parts.
  private func wholeBody(of response: Carabiner.HTTPResponse) async throws -> Data {
    guard response.response.isMultipart else { return try await response.chunks.collected() }
    var body = Data()
    for try await chunk in response.chunks {
      guard body.count + chunk.count <= limits.maximumMergedBytes else {
        throw TransportError(
          .bodyTooLarge,
          "the body of the response is longer than \(limits.maximumMergedBytes) bytes; check the server, or raise "
            + "maximum-body of the manifest, or maximumMergedBytes in the limits of the client",
          url: PrintableURL(response.response.url).withoutQuery, mayHaveBeenSent: true, responseBegan: true)
      }
      body.append(chunk)
    }
    return body
  }

  /// Delivers the result of each part: those of a subscription one by one, deferred ones merged with the parts before.
  private func deliverParts(of response: Carabiner.HTTPResponse) async throws {
    let operation = (call?.operation ?? .unknown).described
    let parsed = try await Carabiner.JSONResponseParsingInterceptor(limits: limits).parse(
      response: response, for: Carabiner.JSONRequest(operation: operation, endpoint: request.url), includeCacheRecords: false)
    var count = 0
    do {
      for try await result in parsed {
        count += 1
        // The server may keep a subscription open after a result, so only a deferred response has a last result that is known.
        let isLast = operation.operationType != .subscription && !result.result.hasNext
        transfer.deliver(result.result.body.bytes, response.response, isLast: isLast)
        await call?.gate.wait()
        try Task.checkCancellation()
      }
    } catch is HTTPRetry where count > 0 {
      throw RequestChainError(
        .noResults, "an HTTP interceptor requested a retry after a result was delivered; request it before the first result")
    }
    guard count > 0 else {
      throw RequestChainError(.noResults, "the server ended the response in parts without a result; check the server")
    }
    transfer.callRaw(nil)
  }
}

extension URLRequest {
  /// The request with these header fields, where it has none of the same name.
  fileprivate func adding(_ headers: [String: String]?) -> URLRequest {
    var request = self
    for (name, value) in (headers ?? [:]).sorted(by: { $0.key < $1.key }) where request.headers[name] == nil {
      request.headers[name] = value
    }
    return request
  }
}
