package import FoundationEssentials

/// A call whose messages are bytes in a codec, so that it needs no generated code. Only raw hooks see the messages.
package struct ConnectCall: Sendable {
  /// The header fields of the request.
  package var headers: Headers
  /// The idempotency of the method. A method without side effects may be called by GET.
  package var idempotencyLevel: IdempotencyLevel
  private let path: String
  private let codec: any Codec
  private let message: Data

  /// Creates a call.
  ///
  /// - Parameters:
  ///   - path: `package.Service/Method`.
  ///   - codec: The codec that has written the message.
  ///   - message: The message, or the first one of a stream.
  package init(
    path: String, codec: any Codec = JSONCodec(), message: Data, headers: Headers = [:],
    idempotencyLevel: IdempotencyLevel = .unknown
  ) {
    self.path = path
    self.codec = codec
    self.message = message
    self.headers = headers
    self.idempotencyLevel = idempotencyLevel
  }

  /// Calls a unary method. Cancelling the task cancels the call.
  package func unary(over client: any HTTPClientInterface, config: ProtocolClientConfig) async -> ResponseMessage<Data> {
    await UnaryCall(plan(.unary, client, config), UnaryForm()).outcome(message)
  }

  /// Makes a stream and sends the message. In a server stream it is the only one.
  package func stream(
    _ type: MethodSpec.MethodType, over client: any HTTPClientInterface, config: ProtocolClientConfig
  ) -> ConnectStream {
    let handle = StreamHandle<Data, Data>(plan(type, client, config), StreamForm())
    handle.call.sendOrEnd(message)
    return ConnectStream(handle: handle)
  }

  private func plan(
    _ type: MethodSpec.MethodType, _ client: any HTTPClientInterface, _ config: ProtocolClientConfig
  ) -> CallPlan {
    CallPlan(
      path, type, headers: headers, idempotencyLevel: idempotencyLevel, config: config.replacing(codec: codec), client: client)
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
  func outcome(_ message: Input) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(message) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancel()
    }
  }
}

extension ProtocolClientConfig {
  fileprivate func replacing(codec: any Codec) -> ProtocolClientConfig {
    var config = ProtocolClientConfig(
      host: host, networkProtocol: networkProtocol, codec: codec, unaryGET: unaryGET, timeout: timeout,
      requestCompression: requestCompression, responseCompressionPools: responseCompressionPools, interceptors: interceptors)
    config.hookLimits = hookLimits
    config.maximumMessageBytes = maximumMessageBytes
    return config
  }
}
