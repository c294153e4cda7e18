internal import CarabinerSchema
internal import CarabinerWire

/// An object that has fields.
enum LibraryObject: Sendable {
  case query
  case mutation
  case countdown(Int)
  case book(Book)
  case author(Author)
  case shelf
  case introspection(IntrospectionObject)

  /// The object's type in the schema.
  var typeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .countdown: "Subscription"
    case .book: "Book"
    case .author: "Author"
    case .shelf: "Shelf"
    case .introspection(let object): object.typeName
    }
  }
}

/// The value of a field, before its selections are applied.
enum FieldValue: Sendable {
  case leaf(JSONValue)
  case object(LibraryObject)
  case list([FieldValue])

  static let null = FieldValue.leaf(.null)

  init(_ value: IntrospectionValue) {
    self =
      switch value {
      case .leaf(let leaf): .leaf(leaf)
      case .object(let object): .object(.introspection(object))
      case .list(let values): .list(values.map { FieldValue($0) })
      }
  }

  static func book(_ book: Book?) -> FieldValue { book.map { .object(.book($0)) } ?? .null }
  static func author(_ author: Author?) -> FieldValue { author.map { .object(.author($0)) } ?? .null }
  static func books(_ books: some Sequence<Book>) -> FieldValue { .list(books.map { .book($0) }) }
}
