package import FoundationEssentials

/// A call without hooks whose messages are bytes in a codec, so that it needs no generated code.
package struct ConnectCall: Sendable {
  /// The header fields of the request.
  package var headers: Headers
  /// The idempotency of the method. A method without side effects may be called by GET.
  package var idempotencyLevel: IdempotencyLevel
  private let path: String
  private let message: Data

  /// Creates a call.
  ///
  /// - Parameters:
  ///   - path: `package.Service/Method`.
  ///   - message: The message, or the first one of a stream, in the codec of the configuration.
  package init(
    path: String, message: Data, headers: Headers = [:], idempotencyLevel: IdempotencyLevel = .unknown
  ) {
    self.path = path
    self.message = message
    self.headers = headers
    self.idempotencyLevel = idempotencyLevel
  }

  /// Calls a unary method. Cancelling the task cancels the call.
  package func unary(over client: any HTTPClientInterface, config: CallConfig) async -> ResponseMessage<Data> {
    await UnaryCall(plan(.unary, client, config), UnaryForm(), UnaryHooks()).outcome(message)
  }

  /// Makes a stream and sends the message. In a server stream it is the only one.
  package func stream(
    _ type: MethodSpec.MethodType, over client: any HTTPClientInterface, config: CallConfig
  ) -> ConnectStream {
    let handle = StreamHandle(plan(type, client, config), StreamForm(), StreamHooks())
    handle.call.sendOrEnd(message)
    return ConnectStream(handle: handle)
  }

  private func plan(
    _ type: MethodSpec.MethodType, _ client: any HTTPClientInterface, _ config: CallConfig
  ) -> CallPlan {
    CallPlan(path, type, headers: headers, idempotencyLevel: idempotencyLevel, config: config, client: client)
  }
}

/// A stream whose messages are bytes in a codec. Releasing it and its results ends the transfer.
package final class ConnectStream: Sendable {
  private let handle: StreamHandle<Data, Data>

  init(handle: StreamHandle<Data, Data>) { self.handle = handle }

  /// Sends a message.
  ///
  /// - Throws: ``ConnectError`` if the request was ended before.
  package func send(_ message: Data) throws { try handle.call.send(message) }

  /// Ends the request.
  package func close() { handle.call.close() }

  /// Cancels the stream.
  package func cancel() { handle.call.cancel() }

  /// The results that were not read yet: headers once, messages, and the end once.
  package func results() -> AsyncStream<StreamResult<Data>> { handle.results() }
}

extension UnaryCall {
  /// The outcome of the call. Cancelling the task cancels it.
  package func outcome(_ message: Input) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(message) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancel()
    }
  }
}
