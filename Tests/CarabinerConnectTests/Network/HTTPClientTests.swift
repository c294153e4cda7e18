import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import Synchronization
import TestTools
import Testing

/// A client of a user, which answers without a network.
final class RecordingClient: HTTPClientInterface {
  typealias Unary = @Sendable (HTTPRequest<Data?>, @escaping @Sendable (HTTPResponse) -> Void) -> Void
  typealias Stream = @Sendable (HTTPRequest<Data?>, ResponseCallbacks) -> Void

  static let response = HTTPResponse(
    code: .ok, headers: ["Content-Type": ["application/json"]], message: Data("\"world\"".utf8), trailers: [:], error: nil,
    tracingInfo: nil)

  private let unary: Unary
  private let stream: Stream

  init(unary: @escaping Unary, stream: @escaping Stream = { _, callbacks in callbacks.receiveClose(.unimplemented, [:], nil) }) {
    self.unary = unary
    self.stream = stream
  }

  convenience init(_ record: @escaping @Sendable (HTTPRequest<Data?>) -> Void = { _ in }) {
    self.init(unary: { request, respond in
      record(request)
      respond(Self.response)
    })
  }

  func unary(
    request: HTTPRequest<Data?>, onMetrics: @escaping @Sendable (HTTPMetrics) -> Void,
    onResponse: @escaping @Sendable (HTTPResponse) -> Void
  ) -> Cancelable {
    unary(request, onResponse)
    return Cancelable {}
  }

  func stream(request: HTTPRequest<Data?>, responseCallbacks: ResponseCallbacks) -> RequestCallbacks<Data> {
    stream(request, responseCallbacks)
    return RequestCallbacks(cancel: {}, sendData: { _ in }, sendClose: {})
  }
}

@Suite("Clients of users for HTTP", .timeLimit(.minutes(2)))
struct HTTPClientTests {
  private func client(_ http: RecordingClient) -> ProtocolClient {
    ProtocolClient(httpClient: http, config: ProtocolClientConfig(host: "http://host"))
  }

  private func results(_ stream: @escaping RecordingClient.Stream) async -> [String] {
    let client = client(RecordingClient(unary: { _, _ in }, stream: stream))
    let made: any ServerOnlyAsyncStreamInterface<Text, Text> = client.serverOnlyStream(path: Service.path, headers: [:])
    var words: [String] = []
    for await result in made.results() { words.append(result.word) }
    return words
  }

  @Test("the first of two responses counts", .rule("connect.19"))
  func twoResponses() async {
    let client = client(
      RecordingClient(unary: { _, respond in
        respond(RecordingClient.response)
        respond(HTTPResponse(code: .internalError, headers: [:], message: nil, trailers: [:], error: nil, tracingInfo: nil))
      }))
    #expect(await client.call().word == "world")
  }

  @Test("a client that releases its closure without a response fails the call", .rule("connect.20"))
  func noResponse() async {
    let response = await client(RecordingClient(unary: { _, _ in })).call()
    #expect(response.code == .internalError && response.error?.message?.contains("HTTPClientInterface") == true)
  }

  @Test(
    "the code and error of a client are those of the call", .rule("connect.31"),
    arguments: [
      (Code.unavailable, Fault?.some(Fault()), Code.unavailable), (.ok, Fault(), .unknown),
      (.permissionDenied, nil, .permissionDenied),
    ])
  func failures(code: Code, error: Fault?, expected: Code) async {
    let client = client(
      RecordingClient(unary: { _, respond in
        respond(HTTPResponse(code: code, headers: [:], message: nil, trailers: [:], error: error, tracingInfo: nil))
      }))
    let response = await client.call()
    #expect(response.code == expected && (response.error?.exception != nil) == (error != nil))
  }

  struct Fault: Error {}

  private static let headers: Headers = ["content-type": ["application/connect+json"]]

  @Test("a stream that sends headers twice gives them once", .rule("connect.25"))
  func headersTwice() async {
    let words = await results { _, callbacks in
      callbacks.receiveResponseHeaders(Self.headers)
      callbacks.receiveResponseHeaders(["content-type": ["text/html"]])
      callbacks.receiveResponseData(Data(envelope("\"1\"") + endOfStream))
      callbacks.receiveResponseHeaders(Self.headers)
      callbacks.receiveClose(.ok, [:], nil)
      callbacks.receiveClose(.internalError, [:], nil)
    }
    #expect(words == ["headers", "1", "complete ok"])
  }

  @Test(
    "a stream ends with the code of its client, and with an error if the client releases the callbacks",
    .rule("connect.20", "connect.31"))
  func ends() async {
    #expect(
      await results { _, callbacks in
        callbacks.receiveResponseHeaders(["content-type": ["text/plain"]])
        callbacks.receiveClose(.unauthenticated, [:], nil)
      } == ["headers", "complete unauthenticated"])
    #expect(await results { _, callbacks in callbacks.receiveClose(.ok, [:], Fault()) } == ["complete unknown"])
    #expect(await results { _, _ in } == ["complete internalError"])
    #expect(await results { _, callbacks in callbacks.receiveClose(.unavailable, [:], nil) } == ["complete unavailable"])
    #expect(await results { _, callbacks in callbacks.receiveClose(.ok, [:], nil) } == ["complete internalError"])
  }

  /// Reports the figures of the first exchange after those of the second one.
  private final class LateMetrics: HTTPClientInterface {
    private let late = Shared<(@Sendable () -> Void)?>(nil)

    func unary(
      request: HTTPRequest<Data?>, onMetrics: @escaping @Sendable (HTTPMetrics) -> Void,
      onResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) -> Cancelable {
      if let late = late.exchange({ onMetrics(HTTPMetrics(duration: .zero, receivedBytes: 1)) }) {
        onMetrics(HTTPMetrics(duration: .zero, receivedBytes: 2))
        late()
        onResponse(RecordingClient.response)
      } else {
        onResponse(
          HTTPResponse(code: .unauthenticated, headers: [:], message: nil, trailers: [:], error: nil, tracingInfo: nil))
      }
      return Cancelable {}
    }

    func stream(request: HTTPRequest<Data?>, responseCallbacks: ResponseCallbacks) -> RequestCallbacks<Data> {
      RequestCallbacks(cancel: {}, sendData: { _ in }, sendClose: {})
    }
  }

  @Test("the figures are those of the last attempt, whenever those of the others arrive", .rule("connect.10"))
  func lateMetrics() async throws {
    let metrics = Shared<HTTPMetrics?>(nil)
    let interceptor = InterceptorFactory { _ in
      let sendAgain = Shared<(@Sendable () -> Void)?>(nil)
      return UnaryStep(
        request: { request, proceed in
          sendAgain.value = { proceed(.success(request)) }
          proceed(.success(request))
        },
        response: { response, proceed in
          if response.code == .unauthenticated, let again = sendAgain.exchange(nil) { again() } else { proceed(response) }
        }, metrics: { metrics.value = $0 })
    }
    let client = ProtocolClient(
      httpClient: LateMetrics(), config: ProtocolClientConfig(host: "http://host", interceptors: [interceptor]))
    #expect(await client.call().word == "world")
    #expect(await eventually { metrics.value != nil })
    #expect(metrics.value?.receivedBytes == 2)
  }

  @Test("the figures of an exchange count its bytes", .rule("connect.10"))
  func metrics() async throws {
    let reported = Shared<HTTPMetrics?>(nil)
    let service = try Service([InterceptorFactory { _ in UnaryStep(metrics: { reported.value = $0 }) }])
    _ = await service.call()
    #expect(await eventually { reported.value != nil })
    let metrics = try #require(reported.value)
    #expect(metrics.sentBytes == 7 && metrics.receivedBytes == 7 && metrics.attempts == 1)
    #expect(try #require(metrics.timeToHead) <= metrics.duration)
  }
}
