import Carabiner
import CarabinerCurl
import Foundation

/// Watches a book, renames it, and prints each result of the watch until the new title arrives.
///
/// Usage: WatchedQuery ENDPOINT
@main
struct WatchedQuery {
  static func main() async throws {
    guard CommandLine.arguments.count == 2, let endpoint = URL(string: CommandLine.arguments[1]) else {
      FileHandle.standardError.write(Data("usage: WatchedQuery ENDPOINT\n".utf8))
      exit(2)
    }
    // Objects with keys are stored once, so every operation that returns a book changes the same object. The documents select the
    // key: without a schema, the client does not know which objects are books.
    let store = ApolloStore(policy: CacheKeyPolicy(keyFields: ["Book": ["id"]]))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: endpoint, httpTransport: try CurlTransport(), store: store))

    let title = "Solaris, revised"
    for try await response in client.watch(BookQuery(id: "2")) {
      for error in response.errors ?? [] { print("GraphQL error: \(error)") }
      guard let book = try response.data?.book else { continue }
      print(book.title)
      if book.title == title { break }
      // The mutation selects the same field of the same object. The store changes, and the watch returns the new result.
      _ = try await client.perform(mutation: RenameBookMutation(id: "2", title: title))
    }
  }
}
