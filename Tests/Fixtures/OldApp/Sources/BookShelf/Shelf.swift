import Apollo
import ApolloAPI

/// The books of a library.
struct Shelf {
  let client: ApolloClient

  func printBooks() async throws {
    let filter = LibraryAPI.BookFilter(genre: .some(.case(.scienceFiction)))
    let response = try await client.fetch(query: LibraryAPI.BooksQuery(filter: .some(filter)), cachePolicy: .cacheFirst)
    for book in response.data?.books ?? [] { print(line(of: book.fragments.bookLine)) }
  }

  func printResults(of text: String) async throws {
    let response = try await client.fetch(query: LibraryAPI.SearchQuery(text: text), cachePolicy: .networkFirst)
    for result in response.data?.search ?? [] {
      if let book = result.asBook { print(line(of: book.fragments.bookLine)) }
      if let author = result.asAuthor { print("\(author.name), born in \(author.born ?? 0)") }
    }
  }

  func rename(_ id: LibraryAPI.ID, to title: String) async throws {
    let response = try await client.perform(mutation: LibraryAPI.RenameBookMutation(id: id, title: title))
    if let book = response.data?.renameBook { print("renamed to \(book.title)") }
  }

  /// Notes in the store that a book is lent.
  func lend(_ id: LibraryAPI.ID, to name: String) async throws {
    try await client.store.withinReadWriteTransaction { transaction in
      try await transaction.update(LibraryAPI.LentBookLocalCacheMutation(id: id)) { data in
        data.book?.borrower = name
      }
    }
  }

  private func line(of book: LibraryAPI.BookLine) -> String {
    let genre = book.genre.value.map { "\($0)" } ?? "unknown"
    return "\(book.title) by \(book.author.name), \(genre)" + (book.borrower.map { ", lent to \($0)" } ?? "")
  }
}
