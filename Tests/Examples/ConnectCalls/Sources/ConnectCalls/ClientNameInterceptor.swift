import CarabinerConnect

/// Names the program in each request. An interceptor as Connect-Swift has them.
final class ClientNameInterceptor: UnaryInterceptor, StreamInterceptor {
  init(config: ProtocolClientConfig) {}

  @Sendable
  func handleUnaryRequest<Message: ProtobufMessage>(
    _ request: HTTPRequest<Message>, proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
  ) { proceed(.success(named(request))) }

  @Sendable
  func handleStreamStart(
    _ request: HTTPRequest<Void>, proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void
  ) { proceed(.success(named(request))) }

  private func named<Input>(_ request: HTTPRequest<Input>) -> HTTPRequest<Input> {
    var headers = request.headers
    headers["x-client-name"] = ["connect-calls"]
    return HTTPRequest(url: request.url, headers: headers, message: request.message, trailers: request.trailers)
  }
}
