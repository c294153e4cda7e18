internal import CarabinerSchema
internal import CarabinerWire

extension Library {
  /// The longest pause that a request may ask for, in seconds.
  static let longestPause = 30.0

  /// The value of an object's field. The arguments have been checked against the schema.
  func value(
    of field: String, in object: LibraryObject, arguments: JSONObject, context: RequestContext
  ) async throws(FieldFailure) -> FieldValue {
    switch object {
    case .query: try await queryField(field, arguments, context)
    case .mutation: try mutationField(field, arguments)
    case .countdown(let count): .leaf(.number(JSONNumber(count)))
    case .book(let book): try await bookField(field, of: book, arguments, context)
    case .author(let author): try authorField(field, of: author)
    case .shelf:
      if field == "room" {
        .leaf("reading room")
      } else {
        throw FieldFailure("the label has fallen off", code: "NO_LABEL")
      }
    case .introspection(let object): FieldValue(Schema.library.introspection(field, of: object, arguments: arguments))
    }
  }

  private func queryField(
    _ field: String, _ arguments: JSONObject, _ context: RequestContext
  ) async throws(FieldFailure) -> FieldValue {
    let id = arguments["id"]?.string ?? ""
    switch field {
    case "books": return try filteredBooks(arguments)
    case "book": return .book(book(id))
    case "booksByID": return .list((arguments["ids"]?.array ?? []).map { .book(book($0.string ?? "")) })
    case "authors": return .list(authors.map { .author($0) })
    case "author": return .author(author(id))
    case "node": return book(id).map { .book($0) } ?? .author(author(id))
    case "search": return search(arguments["text"]?.string ?? "")
    case "shelf": return .object(.shelf)
    case "failing": throw FieldFailure("this field always fails", code: "BROKEN")
    case "secret":
      guard context.isAuthenticated else {
        throw FieldFailure("no valid token; send one from POST /token", code: "UNAUTHENTICATED")
      }
      return .leaf("the librarian reads the last page first")
    case "slow":
      try await pause(arguments["seconds"]?.double ?? 0, context)
      return .leaf("done")
    case "echoHeader":
      return .leaf(context.headers[(arguments["name"]?.string ?? "").lowercased()].map { .string($0) } ?? .null)
    default:
      guard let value = Schema.library.introspection(field, arguments: arguments) else { throw unknown(field) }
      return FieldValue(value)
    }
  }

  private func filteredBooks(_ arguments: JSONObject) throws(FieldFailure) -> FieldValue {
    let count = arguments["first"]?.int ?? 0
    guard count >= 0 else { throw FieldFailure("first is \(count); it must not be negative", code: "BAD_USER_INPUT") }
    let filter = arguments["filter"]
    return .books(
      books.filter { book in
        (filter?["genre"]?.string.map { $0 == book.genre } ?? true)
          && (filter?["title"]?.string.map { book.title.lowercased().contains($0.lowercased()) } ?? true)
          && (filter?["since"]?.int.map { book.year >= $0 } ?? true)
          && (filter?["isBorrowed"]?.bool.map { $0 == (book.borrower != nil) } ?? true)
      }.prefix(count))
  }

  private func search(_ text: String) -> FieldValue {
    let text = text.lowercased()
    let books = books.filter { $0.title.lowercased().contains(text) }.map { FieldValue.book($0) }
    return .list(books + authors.filter { $0.name.lowercased().contains(text) }.map { .author($0) })
  }

  private func mutationField(_ field: String, _ arguments: JSONObject) throws(FieldFailure) -> FieldValue {
    let id = arguments["id"]?.string ?? ""
    return switch field {
    case "renameBook": .book(try rename(id, to: arguments["title"]?.string ?? ""))
    case "borrowBook": .book(try lend(id, to: arguments["by"]?.string ?? ""))
    case "returnBook": .book(try takeBack(id))
    default: throw unknown(field)
    }
  }

  private func bookField(
    _ field: String, of book: Book, _ arguments: JSONObject, _ context: RequestContext
  ) async throws(FieldFailure) -> FieldValue {
    switch field {
    case "id": return .leaf(.string(book.id))
    case "title": return .leaf(.string(book.title))
    case "subtitle": return .leaf(book.subtitle.map { .string($0) } ?? .null)
    case "year": return .leaf(.number(JSONNumber(book.year)))
    case "genre": return .leaf(.string(book.genre))
    case "rating": return .leaf(book.rating.flatMap { JSONNumber($0) }.map { .number($0) } ?? .null)
    case "author": return .author(author(book.authorID))
    case "borrower": return .leaf(book.borrower.map { .string($0) } ?? .null)
    case "isBorrowed": return .leaf(.bool(book.borrower != nil))
    case "review":
      try await pause(Double(arguments["afterMilliseconds"]?.int ?? 0) / 1000, context)
      return .leaf(.string("\(book.title), \(book.year): still worth every page."))
    default: throw unknown(field)
    }
  }

  private func authorField(_ field: String, of author: Author) throws(FieldFailure) -> FieldValue {
    switch field {
    case "id": return .leaf(.string(author.id))
    case "name": return .leaf(.string(author.name))
    case "born": return .leaf(author.born.map { .number(JSONNumber($0)) } ?? .null)
    case "books": return .books(books.filter { $0.authorID == author.id })
    default: throw unknown(field)
    }
  }

  private func pause(_ seconds: Double, _ context: RequestContext) async throws(FieldFailure) {
    guard (0...Self.longestPause).contains(seconds) else {
      throw FieldFailure("a pause lasts 0 to \(Int(Self.longestPause)) seconds", code: "BAD_USER_INPUT")
    }
    do {
      try await context.pause(.seconds(seconds))
    } catch {
      throw FieldFailure("the server shuts down, or the request was cancelled", code: "CANCELLED")
    }
  }

  private func unknown(_ field: String) -> FieldFailure {
    FieldFailure("the library has no field \(field.debugDescription)", code: "INTERNAL_SERVER_ERROR")
  }
}
