import CarabinerPipeline
import Dispatch
import Foundation
import ScriptedServer
import TestTools
import Testing

/// A server of a test and a transport of the 0.3x generation to it.
struct LegacyService {
  let server: ScriptedServer
  let transport: RequestChainNetworkTransport
  let client: ApolloClient

  init(
    _ provider: any InterceptorProvider, store: ApolloStore = ApolloStore(), persists: Bool = false,
    creator: any RequestCreator = ApolloRequestCreator(), headers: [String: String] = [:],
    _ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in try peer.json(heroJSON) }
  ) throws {
    server = try ScriptedServer(ScriptedServer.answering(answer))
    transport = RequestChainNetworkTransport(
      interceptorProvider: provider, endpointURL: try #require(URL(string: server.origin)), additionalHeaders: headers,
      autoPersistQueries: persists, requestCreator: creator)
    client = ApolloClient(networkTransport: transport, store: store)
  }

  /// The first result of an operation.
  func result<Operation: GraphQLOperation>(
    of operation: Operation, _ policy: CarabinerPipeline.CachePolicy = .fetchIgnoringCacheData
  ) async throws -> GraphQLResult<Operation.Data> {
    let results = Results<Operation.Data>()
    _ = transport.send(operation: operation, cachePolicy: policy, callbackQueue: .global()) { results.add($0) }
    _ = await eventually { !results.all.isEmpty }
    return try #require(results.all.first).get()
  }
}

/// An operation with an identifier of its own.
struct Identified: IdentifiedOperation, GraphQLQuery {
  typealias Data = JSONValue

  var operationName: String? { "Identified" }
  var document: String { "query Identified { a }" }
  var operationIdentifier: String? { "own-1" }
}

extension Peer {
  /// Answers with bytes.
  func bytes(_ body: Data, _ type: String) throws {
    try send(
      Array("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + [UInt8](body))
  }
}
