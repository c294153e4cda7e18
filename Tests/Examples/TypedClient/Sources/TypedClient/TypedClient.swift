import Carabiner
import CarabinerCurl
import Foundation

/// Prints the science fiction of a library.
@main
struct TypedClient {
  static func main() async throws {
    guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init) else {
      return print("usage: TypedClient ENDPOINT")
    }
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: url, httpTransport: try CurlTransport()))
    let response = try await client.fetch(query: BooksQuery(genre: .case(.scienceFiction)))
    for book in try response.data?.books ?? [] { print("\(book.title) by \(book.author.name), \(book.year)") }
  }
}
