/// The protocol between client and server.
public enum NetworkProtocol: Sendable {
  /// The Connect protocol.
  case connect
  /// The gRPC-Web protocol.
  case grpcWeb
  /// A protocol of your own. Its interceptor comes last, and sees requests as they are sent and responses as they are received.
  case custom(name: String, protocolInterceptor: InterceptorFactory)
}

extension NetworkProtocol: CustomStringConvertible {
  public var description: String {
    switch self {
    case .connect: "Connect"
    case .grpcWeb: "gRPC-Web"
    case .custom(let name, _): name
    }
  }
}
