internal import CarabinerWire

extension Schema {
  /// A small library whose fields cover every kind of response that a client must handle.
  static let library = Schema(
    [
      (
        "Query",
        .object(
          fields: [
            FieldDefinition(
              "books", .list(.book.required).required, InputDefinition("filter", .named("BookFilter")),
              InputDefinition("first", .int.required, default: 100)),
            FieldDefinition("book", .book, InputDefinition("id", .id.required)),
            FieldDefinition("booksByID", .list(.book).required, InputDefinition("ids", .list(.id.required).required)),
            FieldDefinition("authors", .list(.author.required).required),
            FieldDefinition("author", .author, InputDefinition("id", .id.required)),
            FieldDefinition("node", .named("Node"), InputDefinition("id", .id.required)),
            FieldDefinition(
              "search", .list(.named("SearchResult").required).required, InputDefinition("text", .string.required)),
            FieldDefinition("shelf", .named("Shelf")),
            FieldDefinition("failing", .string),
            FieldDefinition("secret", .string),
            FieldDefinition("slow", .string.required, InputDefinition("seconds", .float.required, default: 1)),
            FieldDefinition("echoHeader", .string, InputDefinition("name", .string.required)),
          ], interfaces: [])
      ),
      (
        "Mutation",
        .object(
          fields: [
            FieldDefinition(
              "renameBook", .book.required, InputDefinition("id", .id.required), InputDefinition("title", .string.required)),
            FieldDefinition(
              "borrowBook", .book.required, InputDefinition("id", .id.required), InputDefinition("by", .string.required)),
            FieldDefinition("returnBook", .book.required, InputDefinition("id", .id.required)),
          ], interfaces: [])
      ),
      (
        "Subscription",
        .object(
          fields: [
            FieldDefinition(
              "countdown", .int.required, InputDefinition("from", .int.required, default: 3),
              InputDefinition("everyMilliseconds", .int.required, default: 100), InputDefinition("failAt", .int))
          ], interfaces: [])
      ),
      (
        "Book",
        .object(
          fields: [
            FieldDefinition("id", .id.required), FieldDefinition("title", .string.required),
            FieldDefinition("subtitle", .string), FieldDefinition("year", .int.required),
            FieldDefinition("genre", .genre.required), FieldDefinition("rating", .float),
            FieldDefinition("author", .author.required), FieldDefinition("borrower", .string),
            FieldDefinition("isBorrowed", .boolean.required),
            FieldDefinition("review", .string, InputDefinition("afterMilliseconds", .int.required, default: 50)),
          ], interfaces: ["Node"])
      ),
      (
        "Author",
        .object(
          fields: [
            FieldDefinition("id", .id.required), FieldDefinition("name", .string.required), FieldDefinition("born", .int),
            FieldDefinition("books", .list(.book.required).required),
          ], interfaces: ["Node"])
      ),
      (
        "Shelf",
        .object(
          fields: [FieldDefinition("room", .string.required), FieldDefinition("label", .string.required)], interfaces: [])
      ),
      ("Node", .interface(fields: [FieldDefinition("id", .id.required)])),
      ("SearchResult", .union(members: ["Book", "Author"])),
      ("Genre", .enumeration(["NOVEL", "SCIENCE_FICTION", "ESSAY"])),
      (
        "BookFilter",
        .input([
          InputDefinition("genre", .genre), InputDefinition("title", .string), InputDefinition("since", .int),
          InputDefinition("isBorrowed", .boolean),
        ])
      ),
      ("ID", .scalar), ("String", .scalar), ("Int", .scalar), ("Float", .scalar), ("Boolean", .scalar),
    ])
}

extension GraphQLDocument.TypeReference {
  fileprivate static let book = Self.named("Book")
  fileprivate static let author = Self.named("Author")
  fileprivate static let genre = Self.named("Genre")
}
