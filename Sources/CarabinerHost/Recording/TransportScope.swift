internal import Carabiner
internal import CarabinerUpstreams
internal import Foundation
internal import Synchronization

/// How the upstream requests of one operation are handled: recorded or replayed.
enum TransportScope: Sendable {
  case recording(UpstreamRecording)
  case replaying(UpstreamReplay)

  /// The scope of the current operation; nil if its requests are only sent.
  @TaskLocal static var current: TransportScope?
}

extension PullStream {
  /// Returns the same stream, whose elements are produced within a scope.
  func within(_ scope: TransportScope) -> Self {
    Self { [pull] in try await TransportScope.$current.withValue(scope) { try await pull() } }
  }
}

/// Sends requests, and records or replays those within a scope.
struct ScopedTransport: RepeatingTransport {
  let base: any HTTPTransport
  /// Sends failed requests again. Nil if `base` does that, or if no request is sent again.
  var recovery: EndpointRecovery?

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    switch TransportScope.current {
    case nil:
      let response: HTTPResponse
      do {
        response = try await base.send(request)
      } catch {
        guard let recovery else { throw error }
        return try await recovery.recovered(request, from: .failure(error), over: base)
      }
      guard EndpointRecovery.concerns(response), let recovery else { return response }
      return try await recovery.recovered(request, from: .success(response), over: base)
    case .replaying(let replay): return try replay.answer(request)
    case .recording(let recording): return try await record(request, recording, over: base)
    }
  }

  func send(_ request: URLRequest, tracer: any ChainTracer) async throws -> HTTPResponse {
    let traced = ScopedTransport(base: TracedHTTPTransport(transport: base, tracer: tracer), recovery: recovery)
    guard case .replaying = TransportScope.current else { return try await traced.send(request) }
    return try await TracedHTTPTransport(transport: ReplayedTransport(scoped: self), tracer: tracer).send(request)
  }

  /// Records the request, and its response after all retries.
  private func record(
    _ request: URLRequest, _ recording: UpstreamRecording, over base: any HTTPTransport
  ) async throws -> HTTPResponse {
    let place = recording.begin(request)
    let response = try await TransportScope.$current.withValue(nil) { try await send(request) }
    recording.answered(place, response.response)
    return response.mapChunks { _, chunk in
      recording.received(place, chunk)
      return chunk
    }
  }
}

/// Answers requests from a recording. Unlike ``ScopedTransport`` it sends each request once, so a tracer reports it as one transfer.
private struct ReplayedTransport: HTTPTransport {
  let scoped: ScopedTransport

  func send(_ request: URLRequest) async throws -> HTTPResponse { try await scoped.send(request) }
}

/// The requests and responses of an operation's upstream.
final class UpstreamRecording: Sendable {
  /// The maximum size of the responses to one operation, in bytes. Above it, the operation is not recorded.
  static let maximumBytes = 16 << 20

  private struct State {
    var exchanges: [UpstreamExchange] = []
    var bytes = 0
  }

  private let state = Mutex(State())

  /// The exchanges; nil if they exceed the maximum size.
  var exchanges: [UpstreamExchange]? { state.withLock { $0.bytes > Self.maximumBytes ? nil : $0.exchanges } }

  func begin(_ request: URLRequest) -> Int {
    state.withLock { state in
      state.exchanges.append(UpstreamExchange(request))
      return state.exchanges.count - 1
    }
  }

  func answered(_ place: Int, _ head: HTTPURLResponse) {
    state.withLock { state in
      state.exchanges[place].status = head.statusCode
      state.exchanges[place].responseHeaders = head.headers
    }
  }

  func received(_ place: Int, _ chunk: Data) {
    state.withLock { state in
      state.bytes += chunk.count
      if state.bytes <= Self.maximumBytes { state.exchanges[place].responseBody.append(contentsOf: chunk) }
    }
  }
}

/// Answers an operation's requests with the recorded responses, in order.
final class UpstreamReplay: Sendable {
  private struct State {
    var next = 0
    var requests: [UpstreamExchange] = []
  }

  private let exchanges: [UpstreamExchange]
  private let state = Mutex(State())

  init(_ exchanges: [UpstreamExchange]) { self.exchanges = exchanges }

  /// The requests of this run.
  var requests: [UpstreamExchange] { state.withLock(\.requests) }

  /// The recorded response to the same request, or else the next unused response.
  ///
  /// - Throws: ``TransportError`` if the original made fewer requests, or got no response.
  func answer(_ request: URLRequest) throws -> HTTPResponse {
    let asked = UpstreamExchange(request)
    let exchange: UpstreamExchange? = state.withLock { state in
      state.requests.append(asked)
      guard state.next < exchanges.count else { return nil }
      defer { state.next += 1 }
      return exchanges[state.next]
    }
    guard let exchange else {
      throw TransportError(
        .other, "the original made \(exchanges.count) requests, and this is an additional one without a recorded response",
        url: asked.url)
    }
    guard exchange.status > 0 else {
      throw TransportError(.cannotConnect, "the original got no response to this request either", url: asked.url)
    }
    return HTTPResponse(
      response: HTTPURLResponse(url: request.url, statusCode: exchange.status, headers: exchange.responseHeaders),
      chunks: PullStream(Data(exchange.responseBody)))
  }
}
