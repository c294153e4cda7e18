import CarabinerManifest

extension Refusal {
  /// A mistake in the settings of the store.
  static func store(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\nbuilt-ins: {store: \(text)}", code, "/built-ins/store\(pointer)", fragment)
  }

  /// All mistakes in the settings of the store.
  static let stores: [Refusal] = [
    .store("a store as text", "cache.sqlite", .wrongType, "", "an object, and is a string"),
    .store(
      "an unknown key of the store", "{path: a}", .unknownKey, "/path",
      "unknown key path; known are file, redis, schema, key-fields"),
    .store("a slip about the store", "{key-field: {}}", .unknownKey, "/key-field", "(did you mean key-fields?)"),
    .store("a number as the store's file", "{file: 1}", .wrongType, "/file", "a text, and is a number"),
    .store("no name for the store's file", "{file: ''}", .invalidValue, "/file", "this text is empty"),
    .store("NUL in the store's file", "{file: \"a\\0b\"}", .invalidValue, "/file", "cannot hold NUL"),
    .store("a folder as the store's file", "{file: ../files}", .missing, "/file", "there is no file"),
    .store("a store's file in no folder", "{file: no/cache.sqlite}", .missing, "/file", "there is no folder"),
    .store("a number as the store's schema", "{schema: 1}", .wrongType, "/schema", "a text, and is a number"),
    .store("a schema that is not there", "{schema: no.graphql}", .missing, "/schema", "there is no file"),
    .store("a schema that is something else", "{schema: ../files/secret.txt}", .syntax, "/schema", "is not a schema"),
    .store("key fields as list", "{key-fields: [id]}", .wrongType, "/key-fields", "an object of fields by type, and is an array"),
    .store("key fields of no type", "{key-fields: {Book.id: id}}", .invalidValue, "/key-fields/Book.id", "write one as in Book"),
    .store("a number as key field", "{key-fields: {Book: 1}}", .wrongType, "/key-fields/Book", "a name or a list of names"),
    .store("a key field with a dot", "{key-fields: {Book: a.b}}", .invalidValue, "/key-fields/Book", "not a GraphQL name"),
    .store("a key field with a digit first", "{key-fields: {Book: 1a}}", .invalidValue, "/key-fields/Book", "not a GraphQL name"),
    .store("a truth value in a key", "{key-fields: {Book: [id, true]}}", .wrongType, "/key-fields/Book/1", "must be a text"),
    .store("a key field twice", "{key-fields: {Book: [a, b, a]}}", .duplicateName, "/key-fields/Book/2", "a is in this list"),
    .store("an empty key field", "{default-key-fields: ['']}", .invalidValue, "/default-key-fields/0", "this text is empty"),
    .store("a default key as object", "{default-key-fields: {}}", .wrongType, "/default-key-fields", "a name or a list"),
    .store("policies as list", "{field-policies: []}", .wrongType, "/field-policies", "an object of policies by field"),
    .store(
      "a policy of no field", "{field-policies: {book: {type: Book, arguments: id}}}", .invalidValue, "/field-policies/book",
      "write one as in Query.book"),
    .store("a policy as text", "{field-policies: {Query.book: Book}}", .wrongType, "/field-policies/Query.book", "an object"),
    .store(
      "a policy without arguments", "{field-policies: {Query.book: {type: Book}}}", .missing, "/field-policies/Query.book",
      "write both"),
    .store(
      "a typing mistake in a policy", "{field-policies: {Query.book: {type: Book, arguments: id, argumens: a}}}", .unknownKey,
      "/field-policies/Query.book/argumens", "(did you mean arguments?)"),
    .store(
      "a policy of no arguments", "{field-policies: {Query.book: {type: Book, arguments: []}}}", .invalidValue,
      "/field-policies/Query.book/arguments", "this list is empty"),
    .store(
      "a policy's argument with two dots", "{field-policies: {Query.book: {type: Book, arguments: input..id}}}", .invalidValue,
      "/field-policies/Query.book/arguments", "not a GraphQL name"),
    .store(
      "a policy's type with a space", "{field-policies: {Query.book: {type: A Book, arguments: id}}}", .invalidValue,
      "/field-policies/Query.book/type", "not a GraphQL name"),
    .store(
      "a policy with an argument too many", "{field-policies: {Query.book: {type: Book, arguments: [id, language]}}}",
      .invalidValue, "/field-policies/Query.book/arguments", "does not fit the key of Book, which is id; name one for each"),
    .store(
      "a policy for a type without a key",
      "{field-policies: {Query.book: {type: Book, arguments: id}}, key-fields: {Book: []}}", .invalidValue,
      "/field-policies/Query.book/arguments", "which has none; give it key-fields"),
    .store("ages as a duration", "{maximum-ages: 1h}", .wrongType, "/maximum-ages", "an object of durations by type or field"),
    .store("an age of no field", "{maximum-ages: {a.b.c: 1h}}", .invalidValue, "/maximum-ages/a.b.c", "write Book or Book.price"),
    .store("an age without unit", "{maximum-ages: {Book: 60}}", .invalidValue, "/maximum-ages/Book", "write it with a unit"),
    .store("an endless age", "{default-maximum-age: for ever}", .invalidValue, "/default-maximum-age", "not a duration"),
    .store(
      "results with errors sometimes", "{results-with-errors: never}", .wrongType, "/results-with-errors", "true or false"),
  ]
}
