import CarabinerConnect
import FoundationEssentials
import SwiftProtobuf

/// An interceptor of unary calls made of functions. A hook without one passes its value on.
final class UnaryStep: UnaryInterceptor {
  typealias Request = HTTPRequest<Text>
  typealias Outward<Value> = @Sendable (Value, @escaping @Sendable (Result<Value, ConnectError>) -> Void) -> Void
  typealias Inward<Value> = @Sendable (Value, @escaping @Sendable (Value) -> Void) -> Void

  private let request: Outward<Request>?
  private let rawRequest: Outward<HTTPRequest<Data?>>?
  private let rawResponse: Inward<HTTPResponse>?
  private let response: Inward<ResponseMessage<Text>>?
  private let metrics: @Sendable (HTTPMetrics) -> Void

  init(
    request: Outward<Request>? = nil, rawRequest: Outward<HTTPRequest<Data?>>? = nil,
    rawResponse: Inward<HTTPResponse>? = nil, response: Inward<ResponseMessage<Text>>? = nil,
    metrics: @escaping @Sendable (HTTPMetrics) -> Void = { _ in }
  ) {
    self.request = request
    self.rawRequest = rawRequest
    self.rawResponse = rawResponse
    self.response = response
    self.metrics = metrics
  }

  /// One that writes down each hook.
  convenience init(_ name: String, _ journal: Journal) {
    self.init(
      request: { request, proceed in
        journal.add("request \(name)")
        proceed(.success(request))
      },
      rawRequest: { request, proceed in
        journal.add("raw request \(name)")
        proceed(.success(request))
      },
      rawResponse: { response, proceed in
        journal.add("raw response \(name)")
        proceed(response)
      },
      response: { response, proceed in
        journal.add("response \(name)")
        proceed(response)
      }, metrics: { _ in journal.add("metrics \(name)") })
  }

  @Sendable func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>, proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
  ) {
    if let hook = self.request as? Outward<HTTPRequest<Message>> { hook(request, proceed) } else { proceed(.success(request)) }
  }

  @Sendable func handleUnaryRawRequest(
    _ request: HTTPRequest<Data?>, proceed: @escaping @Sendable (Result<HTTPRequest<Data?>, ConnectError>) -> Void
  ) {
    if let rawRequest { rawRequest(request, proceed) } else { proceed(.success(request)) }
  }

  @Sendable func handleUnaryRawResponse(_ response: HTTPResponse, proceed: @escaping @Sendable (HTTPResponse) -> Void) {
    if let rawResponse { rawResponse(response, proceed) } else { proceed(response) }
  }

  @Sendable func handleUnaryResponse<Message: ProtobufMessage>(
    _ response: ResponseMessage<Message>, proceed: @escaping @Sendable (ResponseMessage<Message>) -> Void
  ) {
    if let hook = self.response as? Inward<ResponseMessage<Message>> { hook(response, proceed) } else { proceed(response) }
  }

  @Sendable func handleResponseMetrics(_ metrics: HTTPMetrics, proceed: @escaping @Sendable (HTTPMetrics) -> Void) {
    self.metrics(metrics)
    proceed(metrics)
  }
}

/// An interceptor of streams made of functions. A hook without one passes its value on.
final class StreamStep: StreamInterceptor {
  typealias Inward<Value> = @Sendable (Value, @escaping @Sendable (Value) -> Void) -> Void

  private let start: UnaryStep.Outward<HTTPRequest<Void>>?
  private let input: Inward<Text>?
  private let rawInput: Inward<Data>?
  private let rawResult: Inward<StreamResult<Data>>?
  private let result: Inward<StreamResult<Text>>?
  private let metrics: @Sendable (HTTPMetrics) -> Void

  init(
    start: UnaryStep.Outward<HTTPRequest<Void>>? = nil, input: Inward<Text>? = nil, rawInput: Inward<Data>? = nil,
    rawResult: Inward<StreamResult<Data>>? = nil, result: Inward<StreamResult<Text>>? = nil,
    metrics: @escaping @Sendable (HTTPMetrics) -> Void = { _ in }
  ) {
    self.start = start
    self.input = input
    self.rawInput = rawInput
    self.rawResult = rawResult
    self.result = result
    self.metrics = metrics
  }

  /// One that writes down each hook.
  convenience init(_ name: String, _ journal: Journal) {
    self.init(
      start: { request, proceed in
        journal.add("start \(name)")
        proceed(.success(request))
      },
      input: { input, proceed in
        journal.add("input \(input.value) \(name)")
        proceed(input)
      },
      rawInput: { input, proceed in
        journal.add("raw input \(String(decoding: input, as: UTF8.self)) \(name)")
        proceed(input)
      },
      rawResult: { result, proceed in
        journal.add("raw \(result.kind) \(name)")
        proceed(result)
      },
      result: { result, proceed in
        journal.add("\(result.kind) \(name)")
        proceed(result)
      }, metrics: { _ in journal.add("metrics \(name)") })
  }

  @Sendable func handleStreamStart(
    _ request: HTTPRequest<Void>, proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void
  ) {
    if let start { start(request, proceed) } else { proceed(.success(request)) }
  }

  @Sendable func handleStreamInput<Message: ProtobufMessage>(
    _ input: Message, proceed: @escaping @Sendable (Message) -> Void
  ) {
    if let hook = self.input as? Inward<Message> { hook(input, proceed) } else { proceed(input) }
  }

  @Sendable func handleStreamRawInput(_ input: Data, proceed: @escaping @Sendable (Data) -> Void) {
    if let rawInput { rawInput(input, proceed) } else { proceed(input) }
  }

  @Sendable func handleStreamRawResult(
    _ result: StreamResult<Data>, proceed: @escaping @Sendable (StreamResult<Data>) -> Void
  ) {
    if let rawResult { rawResult(result, proceed) } else { proceed(result) }
  }

  @Sendable func handleStreamResult<Message: ProtobufMessage>(
    _ result: StreamResult<Message>, proceed: @escaping @Sendable (StreamResult<Message>) -> Void
  ) {
    if let hook = self.result as? Inward<StreamResult<Message>> { hook(result, proceed) } else { proceed(result) }
  }

  @Sendable func handleResponseMetrics(_ metrics: HTTPMetrics, proceed: @escaping @Sendable (HTTPMetrics) -> Void) {
    self.metrics(metrics)
    proceed(metrics)
  }
}

extension StreamResult {
  /// The kind of the result.
  var kind: String {
    switch self {
    case .headers: "headers"
    case .message: "message"
    case .complete: "complete"
    }
  }
}
