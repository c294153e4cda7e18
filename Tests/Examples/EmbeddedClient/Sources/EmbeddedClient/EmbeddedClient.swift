import Carabiner
import CarabinerCurl
import Foundation

/// Fetches a book twice, renames it, and shows the errors of a request that fails.
///
/// Usage: EmbeddedClient ENDPOINT
@main
struct EmbeddedClient {
  static func main() async throws {
    guard CommandLine.arguments.count == 2, let endpoint = URL(string: CommandLine.arguments[1]) else {
      FileHandle.standardError.write(Data("usage: EmbeddedClient ENDPOINT\n".utf8))
      exit(2)
    }
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: endpoint, httpTransport: try CurlTransport()))

    // The second fetch is answered by the store.
    for _ in 0..<2 {
      let response = try await client.fetch(query: BookQuery(id: "1"), cachePolicy: .cacheFirst)
      if let error = response.errors?.first { throw error }
      guard let book = try response.data?.book else { throw ExampleError.bookNotFound }
      print("\(book.title) by \(book.author.name), from the \(response.source.rawValue)")
    }

    let renamed = try await client.perform(mutation: RenameBookMutation(id: "1", title: "The Left Hand of Darkness, revised"))
    if let error = renamed.errors?.first { throw error }
    print("renamed to \(try renamed.data?.renameBook.title ?? "nothing")")

    // GraphQL errors are part of a response. A call throws if there is no response.
    let missing = try await client.perform(mutation: RenameBookMutation(id: "no such id", title: "Untitled"))
    for error in missing.errors ?? [] { print("GraphQL error: \(error.message ?? "without a message")") }

    let broken = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        endpointURL: endpoint.appending(path: "nothing-here"), httpTransport: try CurlTransport()))
    do {
      _ = try await broken.fetch(query: BookQuery(id: "1"), cachePolicy: .networkOnly)
    } catch let error as ResponseCodeError {
      print("HTTP error: status \(error.response.statusCode)")
    }
  }
}

enum ExampleError: Error {
  case bookNotFound
}
