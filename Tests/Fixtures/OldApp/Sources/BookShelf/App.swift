import Foundation

/// Prints books, and follows the title of one while it changes.
///
/// Usage: BookShelf ENDPOINT
@main
struct App {
  static func main() async throws {
    guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
      print("usage: BookShelf ENDPOINT")
      exit(2)
    }
    let shelf = Shelf(client: Network.client(of: url))
    try await shelf.printBooks()
    try await shelf.printResults(of: "le")
    var titles = await shelf.titles(of: "2").makeAsyncIterator()
    print(try await titles.next() ?? "no such book")
    try await shelf.rename("2", to: "Solaris, again")
    print(try await titles.next() ?? "no such book")
    try await shelf.lend("2", to: "Ada")
    try await shelf.printBooks()
  }
}
