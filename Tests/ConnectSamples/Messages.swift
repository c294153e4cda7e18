import Connect

// The client of a service as the code generator writes it, with well-known types as messages.

/// A service that answers greetings.
public protocol GreetingClientInterface: Sendable {
  @discardableResult
  func greet(
    request: Text, headers: Connect.Headers, completion: @escaping @Sendable (ResponseMessage<Text>) -> Void
  ) -> Connect.Cancelable

  func greet(request: Text, headers: Connect.Headers) async -> ResponseMessage<Text>

  func count(headers: Connect.Headers) -> any Connect.ServerOnlyAsyncStreamInterface<Text, Text>
}

/// The client of the service.
public final class GreetingClient: GreetingClientInterface, Sendable {
  private let client: Connect.ProtocolClientInterface

  public init(client: Connect.ProtocolClientInterface) { self.client = client }

  @discardableResult
  public func greet(
    request: Text, headers: Connect.Headers = [:], completion: @escaping @Sendable (ResponseMessage<Text>) -> Void
  ) -> Connect.Cancelable {
    client.unary(
      path: Metadata.Methods.greet.path, idempotencyLevel: .unknown, request: request, headers: headers, completion: completion)
  }

  public func greet(request: Text, headers: Connect.Headers = [:]) async -> ResponseMessage<Text> {
    await client.unary(path: "sample.v1.Greeting/Greet", idempotencyLevel: .unknown, request: request, headers: headers)
  }

  public func count(headers: Connect.Headers = [:]) -> any Connect.ServerOnlyAsyncStreamInterface<Text, Text> {
    client.serverOnlyStream(path: "sample.v1.Greeting/Count", headers: headers)
  }

  public enum Metadata {
    public enum Methods {
      public static let greet = Connect.MethodSpec(name: "Greet", service: "sample.v1.Greeting", type: .unary)
      public static let count = Connect.MethodSpec(name: "Count", service: "sample.v1.Greeting", type: .serverStream)
    }
  }
}
