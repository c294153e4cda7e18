import Carabiner

/// The books of a library.
struct Shelf {
  let client: ApolloClient

  func printBooks() async throws {
    let filter = BookFilter(genre: .some(.case(.scienceFiction)))
    let response = try await client.fetch(query: BooksQuery(filter: .some(filter)), cachePolicy: .cacheFirst)
    for book in try response.data?.books ?? [] { print(line(of: book.fragments.bookLine)) }
  }

  func printResults(of text: String) async throws {
    let response = try await client.fetch(query: SearchQuery(text: text), cachePolicy: .networkFirst)
    for result in try response.data?.search ?? [] {
      if let book = result.asBook { print(line(of: book.fragments.bookLine)) }
      if let author = result.asAuthor { print("\(author.name), born in \(author.born ?? 0)") }
    }
  }

  func rename(_ id: ID, to title: String) async throws {
    let response = try await client.perform(mutation: RenameBookMutation(id: id, title: title))
    if let book = try response.data?.renameBook { print("renamed to \(book.title)") }
  }

  /// Notes in the store that a book is lent.
  func lend(_ id: ID, to name: String) async throws {
    try await client.store.withinReadWriteTransaction { transaction in
      try await transaction.update(LentBookLocalCacheMutation(id: id)) { data in
        data.book?.borrower = name
      }
    }
  }

  private func line(of book: BookLine) -> String {
    let genre = book.genre.value.map { "\($0)" } ?? "unknown"
    return "\(book.title) by \(book.author.name), \(genre)" + (book.borrower.map { ", lent to \($0)" } ?? "")
  }
}
