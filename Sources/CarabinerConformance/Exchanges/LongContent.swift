internal import CarabinerABI

/// Texts of any length that are slow to read for careless plugins.
enum LongContent {
  /// The size in bytes of the shorter of two texts that are compared.
  static let bytes = 32 << 10

  /// Puts content of about this many bytes into an exchange.
  typealias Content = (name: String, put: (inout Exchange, _ bytes: Int) -> Void)

  /// All kinds of content that may be slow in a stage of this kind.
  static func all(_ kind: StageKind) -> [Content] {
    let data: [Content] = objects.flatMap { name, object -> [Content] in
      [
        (
          "a result with \(name)",
          { exchange, bytes in
            let text = object(bytes)
            exchange.results = [ResultSample(data: text)]
            exchange.chunks = [Array("{\"data\":\(text)}".utf8)]
          }
        ),
        (
          "variables with \(name)",
          { exchange, bytes in
            let text = object(bytes)
            exchange.operation.variables = text
            exchange.request.body = Array("{\"query\":\"{ books { id } }\",\"variables\":\(text)}".utf8)
          }
        ),
      ]
    }
    let errors: Content = (
      "many errors",
      { exchange, bytes in
        let errors = Array(repeating: #"{"message":"no books today","path":["books",0]}"#, count: bytes / 48)
        exchange.results = [ResultSample(errors: "[\(errors.joined(separator: ","))]")]
      }
    )
    guard kind == .graphQL || kind == .cache else { return data + [errors] }
    return data + [errors] + documents.map { name, document in (name, { $0.operation.document = document($1) }) }
  }

  /// Documents with about as many bytes as asked for.
  private static var documents: [(String, (Int) -> String)] {
    [
      (
        "a document with many fields",
        { "query Books { " + (0..<($0 / 32)).map { "field\($0): books(first: \($0)) { id }" }.joined(separator: " ") + " }" }
      ),
      (
        "a document whose fragments spread the next one twice",
        { doubled($0) { "a: next { ...F\($0) } b: next { ...F\($0) }" } }
      ),
      ("a document whose fragments consist of the next one, twice", { doubled($0) { "...F\($0) ...F\($0)" } }),
      ("a document with a long comment", { "query Books { books { id } } # " + String.copies($0, of: "a") }),
      (
        "a document with much white space",
        { "query Books {" + String.copies($0 / 2, of: " \n") + "books { id } }" }
      ),
    ]
  }

  /// A short document of exponential size: each fragment contains the next one twice.
  private static func doubled(_ count: Int, _ selection: (_ next: Int) -> String) -> String {
    let depth = count > bytes ? 22 : 8
    let fragments = (0..<depth).map { "fragment F\($0) on Book { \(selection($0 + 1)) }" }
    return "query Books { books { ...F0 } } \(fragments.joined(separator: " ")) fragment F\(depth) on Book { id }"
  }

  /// Objects of data or variables with about as many bytes as asked for.
  private static var objects: [(String, (Int) -> String)] {
    [
      ("white space between its members", { list("  {  \"a\" :\n\t1  }  ", $0) }), ("a long run of letters", { text("a", $0) }),
      ("a long run of digits", { text("1", $0) }), ("a long run of spaces", { text(" ", $0) }),
      ("a long run of escapes", { text("\\\"\\\\\\n", $0) }), ("many numbers", { list("12345,-1.5", $0) }),
      ("many short texts", { list("\"ann.lee@example.org, http://example.org/a 4111111111111111\"", $0) }),
      ("many objects", { list("{\"id\":\"1\",\"name\":\"x\",\"tags\":[\"a\",\"b\"]}", $0) }),
      (
        "many members",
        { count in "{" + (0..<(count / 12)).map { "\"m\($0)\":\"\($0)\"" }.joined(separator: ",") + "}" }
      ),
    ]
  }

  private static func list(_ item: String, _ bytes: Int) -> String {
    "{\"list\":[\(Array(repeating: item, count: bytes / item.utf8.count).joined(separator: ","))]}"
  }

  /// A long text, with a short one that triggers the plugin's processing.
  private static func text(_ word: String, _ bytes: Int) -> String {
    "{\"mail\":\"ann.lee@example.org\",\"text\":\"\(String.copies(bytes / word.utf8.count, of: word))\"}"
  }
}
