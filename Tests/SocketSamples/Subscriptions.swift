import CarabinerPipeline
import CarabinerPipelineSockets
import Foundation

// Code as a program of the 0.3x generation has it.

/// One client for the whole program: subscriptions over a socket, all other operations over HTTP.
public class SubscribingNetwork: WebSocketTransportDelegate {
  private let httpURL: URL
  private let webSocketURL: URL
  public private(set) var changes: [String] = []

  public init(httpURL: URL, webSocketURL: URL) {
    self.httpURL = httpURL
    self.webSocketURL = webSocketURL
  }

  public private(set) lazy var store = ApolloStore(cache: InMemoryNormalizedCache())

  public private(set) lazy var webSocketTransport: WebSocketTransport = {
    let request = URLRequest(url: webSocketURL)
    let authPayload = ["authToken": "secret"] as JSONEncodableDictionary
    let transport = WebSocketTransport(
      request: request, clientName: "sample", clientVersion: "1", connectingPayload: authPayload, store: store)
    transport.delegate = self
    return transport
  }()

  private lazy var httpTransport: RequestChainNetworkTransport = {
    let provider = LegacyInterceptorProvider(store: store)
    return RequestChainNetworkTransport(interceptorProvider: provider, endpointURL: httpURL)
  }()

  public private(set) lazy var apollo: ApolloClient = {
    let split = SplitNetworkTransport(
      uploadingNetworkTransport: httpTransport, webSocketNetworkTransport: webSocketTransport)
    return ApolloClient(networkTransport: split, store: store)
  }()

  /// Uses another token from now on.
  public func logIn(token: String) {
    webSocketTransport.updateHeaderValues(["Authorization": "Bearer \(token)"])
    webSocketTransport.updateConnectingPayload(["authToken": .string(token)])
  }

  public func webSocketTransportDidConnect(_ webSocketTransport: WebSocketTransport) { changes.append("connect") }
  public func webSocketTransportDidReconnect(_ webSocketTransport: WebSocketTransport) { changes.append("reconnect") }

  public func webSocketTransport(_ webSocketTransport: WebSocketTransport, didDisconnectWithError error: Error?) {
    changes.append("disconnect")
  }
}
