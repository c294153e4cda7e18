internal import Carabiner
internal import CarabinerCalls
internal import CarabinerWire
internal import Foundation

/// A call of the command: it prints what is received, and throws the exit status of a failure.
struct CallRun: Sendable {
  let path: String
  let headers: CarabinerCalls.Headers
  let level: IdempotencyLevel
  let config: CallConfig
  let transport: any HTTPTransport
  let stages: any Carabiner.InterceptorProvider
  /// Whether headers and trailers are printed.
  let showsFields: Bool

  /// Calls a method with one message in each direction.
  func unary(_ message: Data, tracer: (any ChainTracer)?) async throws {
    let response = await call(message).unary(over: client(tracer), config: config)
    show(response.headers, "header")
    switch response.result {
    case .success(let message):
      try emit(message)
      show(response.trailers, "trailer")
    case .failure(let error):
      show(response.trailers, "trailer")
      throw report(error, hasResponse: !response.headers.isEmpty)
    }
  }

  /// Calls a method with streams.
  func stream(_ type: MethodSpec.MethodType, _ messages: [Data], tracer: (any ChainTracer)?) async throws {
    let stream = call(messages.first ?? Data()).stream(type, over: client(tracer), config: config)
    if type != .serverStream {
      for message in messages.dropFirst() { try stream.send(message) }
      stream.close()
    }
    try await withTaskCancellationHandler {
      try await read(stream.results())
    } onCancel: {
      stream.cancel()
    }
  }

  private func read(_ results: AsyncStream<StreamResult<Data>>) async throws {
    var hasResponse = false
    for await result in results {
      switch result {
      case .headers(let headers):
        hasResponse = true
        show(headers, "header")
      case .message(let message): try emit(message)
      case .complete(let code, let error, let trailers):
        show(trailers ?? [:], "trailer")
        guard code != .ok else { return }
        let error = error as? ConnectError ?? ConnectError(code: code, message: error.map { "\($0)" }, exception: error)
        throw report(error, hasResponse: hasResponse)
      }
    }
  }

  private func call(_ message: Data) -> ConnectCall {
    ConnectCall(path: path, message: message, headers: headers, idempotencyLevel: level)
  }

  private func client(_ tracer: (any ChainTracer)?) -> URLSessionHTTPClient {
    URLSessionHTTPClient(transport: transport, stages: stages, tracer: tracer)
  }

  // MARK: Output

  /// Prints a message as one line.
  private func emit(_ message: Data) throws {
    do {
      Terminal.emit(try JSONValue(parsing: [UInt8](message)).description)
    } catch {
      Terminal.complain("error: a message of the response is not JSON: \(error)")
      throw ExitStatus.parsing
    }
  }

  private func show(_ fields: CarabinerCalls.Headers, _ kind: String) {
    guard showsFields else { return }
    for (name, values) in fields.sorted(by: { $0.key < $1.key }) {
      for value in values { Terminal.complain("\(kind) \(name): \(value)") }
    }
  }

  private func report(_ error: ConnectError, hasResponse: Bool) -> ExitStatus {
    // After Ctrl-C no message is needed.
    if error.code == .canceled, Task.isCancelled { return .cancelled }
    Terminal.complain(error.json.description)
    return ExitStatus(error, hasResponse: hasResponse)
  }
}

extension ConnectError {
  /// The error as the JSON of the protocol.
  fileprivate var json: JSONValue {
    var object: JSONObject = ["code": .string(code.name)]
    if let message { object["message"] = .string(message) }
    if !details.isEmpty {
      object["details"] = .array(
        details.map { detail in
          var object: JSONObject = ["type": .string(detail.type)]
          object["value"] = detail.payload.map { .string($0.base64EncodedString().replacingOccurrences(of: "=", with: "")) }
          return .object(object)
        })
    }
    return .object(object)
  }
}

extension ExitStatus {
  /// The status for the error of a call.
  ///
  /// - Parameter hasResponse: Whether the head of a response was received.
  init(_ error: ConnectError, hasResponse: Bool) {
    switch error.exception {
    case let fault as ResponseFault: self = fault.httpStatus == nil ? .parsing : .httpStatus
    case is ConnectError: self = .interceptor
    case let exception?: self = ExitStatus(exception)
    // The client's own timeout, in the middle of a stream.
    case nil where error.code == .deadlineExceeded && error.metadata.isEmpty: self = .network
    case nil where hasResponse: self = .callFailed
    case nil:
      self =
        switch error.code {
        case .invalidArgument: .usage
        case .unavailable: .network
        case .canceled: .cancelled
        case .internalError: .parsing
        default: .interceptor
        }
    }
  }
}
