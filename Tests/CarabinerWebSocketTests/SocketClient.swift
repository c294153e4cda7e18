import Carabiner
import CarabinerWebSocket
import Foundation
import Synchronization

struct CountSubscription: GraphQLSubscription {
  struct Data: Decodable, Sendable, Equatable {
    let count: Int
  }

  var operationName: String? { "Count" }
  var document: String { "subscription Count { count }" }
}

struct CountQuery: GraphQLQuery {
  typealias Data = CountSubscription.Data

  var operationName: String? { "Count" }
  var document: String { "query Count { count }" }
}

struct CountMutation: GraphQLMutation {
  typealias Data = CountSubscription.Data

  var operationName: String? { "Raise" }
  var document: String { "mutation Raise { count }" }
}

extension ApolloClient {
  /// A client that sends all operations over one WebSocket and reconnects quickly.
  static func socket(
    _ url: URL, provider: any InterceptorProvider = DefaultInterceptorProvider.shared, store: ApolloStore = ApolloStore(),
    headers: HTTPHeaders = [:], _ change: (inout WebSocketTransport.Configuration) -> Void = { _ in }
  ) throws -> ApolloClient {
    var configuration = WebSocketTransport.Configuration()
    configuration.reconnection.baseDelay = .milliseconds(5)
    configuration.reconnection.jitter = { 0 }
    change(&configuration)
    return ApolloClient(
      networkTransport: try WebSocketTransport(
        url: url, interceptorProvider: provider, store: store, additionalHeaders: headers, configuration: configuration),
      store: store)
  }

  /// The results of a subscription to a count, and how it ends.
  func counts(cachePolicy: CachePolicy.Subscription = .networkOnly) async -> CountOutcome {
    var outcome = CountOutcome()
    do {
      for try await response in try subscribe(subscription: CountSubscription(), cachePolicy: cachePolicy) {
        outcome.counts.append(try response.data?.count)
        outcome.errors += response.errors?.compactMap(\.message) ?? []
      }
    } catch {
      outcome.error = error
    }
    return outcome
  }
}

struct CountOutcome {
  var counts: [Int?] = []
  var errors: [String] = []
  var error: (any Error)?

  var code: WebSocketError.Code? { (error as? WebSocketError)?.code }
}

/// The words that a test's server and stages record, in order.
final class Journal: Sendable {
  private let words = Mutex<[String]>([])

  func note(_ word: String) { words.withLock { $0.append(word) } }

  var entries: [String] { words.withLock { $0 } }

  /// Waits until there are this many words.
  func wait(for count: Int) async throws {
    while entries.count < count { try await Task.sleep(for: .milliseconds(2)) }
  }
}
