package import Carabiner
internal import CarabinerCurl
internal import CarabinerManifest
internal import FoundationEssentials

/// Sends each request to an endpoint of an upstream, and again to another one if that is allowed.
package struct UpstreamTransport: RepeatingTransport {
  let upstream: Upstream

  package init(_ upstream: Upstream) { self.upstream = upstream }

  package func send(_ request: URLRequest) async throws -> HTTPResponse { try await send(request, tracing: nil) }

  package func send(_ request: URLRequest, tracer: any ChainTracer) async throws -> HTTPResponse {
    try await send(request, tracing: tracer)
  }

  private func send(_ request: URLRequest, tracing tracer: (any ChainTracer)?) async throws -> HTTPResponse {
    guard upstream.endpoints[0].url(of: request.url, madeFor: upstream.endpoints[0]) != nil else {
      // A stage has chosen another server.
      return try await sender(at: nil, tracer).send(request)
    }
    let deadline = AttemptDeadline(request, default: upstream.transport.configuration.totalTimeout)
    let pass = try await upstream.enter(by: deadline)
    do {
      var response = try await attempts(request, pass, deadline, tracer)
      // The request is in progress until its response has been read or released.
      response.chunks = response.chunks.holding(pass)
      return response
    } catch {
      pass.end()
      throw error
    }
  }

  private func attempts(
    _ request: URLRequest, _ pass: UpstreamPass, _ deadline: AttemptDeadline, _ tracer: (any ChainTracer)?
  ) async throws -> HTTPResponse {
    let key = upstream.settings.hashKey.flatMap { request.headers[$0] }.map { StableHash.of($0) }
    var tried: [Int] = []
    var lastCause: RetryRule.Cause?
    guard var choice = upstream.choose(tried: [], key: key) else {
      throw UpstreamRefusal(.noUpstream, upstream: upstream.settings.name)
    }
    while true {
      pass.moved(to: choice.number)
      tried.append(choice.number)
      let result = await attempt(request, at: choice.server, deadline, tracer)
      let outcome = result.outcome
      upstream.note(outcome, of: choice)
      pass.note(isFailure: outcome.isFailure)
      if let lastCause, outcome.isFailure == false { upstream.counters.succeeded(lastCause) }
      guard let cause = upstream.cause(of: outcome, request, after: tried.count) else { return try result.response.get() }
      guard let next = await retry(cause, result, tried, key, pass, deadline) else { return try result.response.get() }
      (choice, lastCause) = (next, cause)
    }
  }

  /// Prepares a retry: chooses an endpoint, asks the budget and waits.
  ///
  /// - Returns: The endpoint; nil if there is no retry.
  private func retry(
    _ cause: RetryRule.Cause, _ result: AttemptResult, _ tried: [Int], _ key: UInt64?, _ pass: UpstreamPass,
    _ deadline: AttemptDeadline
  ) async -> EndpointTable.Choice? {
    guard let choice = upstream.choose(tried: tried, key: key) else { return nil }
    // A request that was never received adds no load, so it does not use the budget.
    let isFree = cause == .connect && !choice.isRepeated
    guard isFree || pass.beginRetry() else {
      upstream.left(choice.number)
      upstream.counters.denied(cause)
      return nil
    }
    let delay = upstream.delay(
      before: tried.count, changesEndpoint: !choice.isRepeated, retryAfter: result.retryAfter)
    guard let delay, deadline.allows(delay) else {
      upstream.left(choice.number)
      return nil
    }
    if delay > .zero {
      do {
        try await Task.sleep(for: delay)
      } catch {
        upstream.left(choice.number)
        return nil
      }
    }
    upstream.counters.sent(cause)
    return choice
  }

  // MARK: One attempt

  private func attempt(
    _ request: URLRequest, at server: EndpointServer, _ deadline: AttemptDeadline, _ tracer: (any ChainTracer)?
  ) async -> AttemptResult {
    var request = request
    let endpoint = upstream.endpoints[server.entry]
    if let url = endpoint.url(of: request.url, madeFor: upstream.endpoints[0]) { request.url = url }
    request.timeoutInterval = deadline.remaining
    let sender = sender(at: server.address, tracer)
    do {
      guard let limit = upstream.settings.retry.attemptTimeout else {
        return AttemptResult(response: .success(try await sender.send(request)))
      }
      return AttemptResult(
        response: .success(
          try await Deadline(after: limit).bounding(AttemptTimeout()) { [request] in try await sender.send(request) }))
    } catch is AttemptTimeout {
      return AttemptResult(outcome: .attemptTimeout, response: .failure(AttemptTimeout.transportError(at: endpoint)))
    } catch {
      return AttemptResult(response: .failure(error))
    }
  }

  private func sender(at address: String?, _ tracer: (any ChainTracer)?) -> any HTTPTransport {
    let sender: any HTTPTransport =
      address.map { AddressedTransport(transport: upstream.transport, address: $0) } ?? upstream.transport
    return tracer.map { TracedHTTPTransport(transport: sender, tracer: $0) } ?? sender
  }
}

/// Sends requests to an address instead of the addresses of their host name.
struct AddressedTransport: HTTPTransport {
  let transport: CurlTransport
  let address: String

  func send(_ request: URLRequest) async throws -> HTTPResponse { try await transport.send(request, at: address) }
}

/// The end of an attempt: the head of a response, or an error.
struct AttemptResult: Sendable {
  let outcome: AttemptOutcome
  let response: Result<HTTPResponse, any Error>

  init(outcome: AttemptOutcome, response: Result<HTTPResponse, any Error>) {
    self.outcome = outcome
    self.response = response
  }

  init(response: Result<HTTPResponse, any Error>) {
    switch response {
    case .success(let response): outcome = .status(response.response.statusCode)
    case .failure(let error): outcome = AttemptOutcome(error)
    }
    self.response = response
  }

  /// The header `Retry-After` of the response; nil if there is none.
  var retryAfter: String? { (try? response.get())?.response.value(forHTTPHeaderField: "Retry-After") }
}

/// The time by which all attempts of a request must end.
struct AttemptDeadline: Sendable {
  /// The time; nil for no limit.
  let end: ContinuousClock.Instant?

  /// - Parameter seconds: The time limit of a request that has none.
  init(_ request: URLRequest, default seconds: Double) {
    let limit = request.timeoutInterval > 0 ? request.timeoutInterval : seconds
    end = limit.isFinite ? .now + .bounded(seconds: limit) : nil
  }

  /// The seconds that are left; infinite for no limit. At least a millisecond, because zero means the transport's own limit.
  var remaining: Double { end.map { max(0.001, ContinuousClock.now.duration(to: $0) / .seconds(1)) } ?? .infinity }

  /// Whether a retry after this delay begins in time.
  func allows(_ delay: Duration) -> Bool { end.map { .now + delay < $0 } ?? true }
}

extension AttemptTimeout {
  /// The error for the caller, if no other attempt follows.
  static func transportError(at endpoint: UpstreamEndpoint) -> TransportError {
    TransportError(
      .timedOut, "\(endpoint.label) sent no response in the time of per-attempt-timeout; raise it, or check the server",
      url: endpoint.text, mayHaveBeenSent: true)
  }
}

extension Upstream {
  /// The reason to send a request again; nil if it must not be.
  func cause(of outcome: AttemptOutcome, _ request: URLRequest, after attempts: Int) -> RetryRule.Cause? {
    request.isRepeatableBody
      ? rule.cause(of: outcome, isRepeatable: request.isIdempotent, after: attempts) : nil
  }
}

extension URLRequest {
  /// Whether the body is in memory, so that it can be sent again.
  var isRepeatableBody: Bool {
    switch body {
    case .data, nil: true
    case .segmented, .streamed: false
    }
  }
}

extension PullStream {
  /// The same stream. Its end, or its release, ends the request.
  fileprivate func holding(_ pass: UpstreamPass) -> Self {
    Self {
      do {
        let step = try await pull()
        switch step {
        case .element: break
        case .last, .end: pass.end()
        }
        return step
      } catch {
        pass.end()
        throw error
      }
    }
  }
}
