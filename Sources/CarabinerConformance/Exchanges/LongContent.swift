internal import CarabinerABI

/// Texts of any length that are slow to read for careless plugins.
enum LongContent {
  /// How many bytes the shorter of two texts has.
  static let bytes = 32 << 10

  /// Makes the object of data or variables with about as many bytes as asked for.
  private static var objects: [(String, (Int) -> String)] {
    [
      ("white space between its members", { list("  {  \"a\" :\n\t1  }  ", $0) }),
      ("a long run of letters", { "{\"mail\":\"ann.lee@example.org\",\"text\":\"\(String(repeating: "a", count: $0))\"}" }),
      ("a long run of digits", { "{\"mail\":\"ann.lee@example.org\",\"text\":\"\(String(repeating: "1", count: $0))\"}" }),
      ("a long run of spaces", { "{\"mail\":\"ann.lee@example.org\",\"text\":\"\(String(repeating: " ", count: $0))\"}" }),
      (
        "a long run of escapes",
        { "{\"mail\":\"ann.lee@example.org\",\"text\":\"\(String(repeating: "\\\"\\\\\\n", count: $0 / 6))\"}" }
      ),
      ("many numbers", { list("12345,-1.5", $0) }),
      ("many short texts", { list("\"ann.lee@example.org, http://example.org/a 4111111111111111\"", $0) }),
      ("many objects", { list("{\"id\":\"1\",\"name\":\"x\",\"tags\":[\"a\",\"b\"]}", $0) }),
      (
        "many members",
        { count in "{" + (0..<(count / 12)).map { "\"m\($0)\":\"\($0)\"" }.joined(separator: ",") + "}" }
      ),
    ]
  }

  private static func list(_ item: String, _ count: Int) -> String {
    "{\"list\":[\(Array(repeating: item, count: count / item.utf8.count).joined(separator: ","))]}"
  }

  /// The exchanges that a stage of this kind may take long for, each by its size.
  static func exchanges(_ kind: StageKind) -> [(String, (Int) -> Exchange)] {
    var all: [(String, (Int) -> Exchange)] = objects.flatMap { name, object in
      [
        (
          "a result with \(name)",
          { count in
            let text = object(count)
            return Exchange("a result with \(name)") {
              $0.results = [ResultSample(data: text)]
              $0.chunks = [Array("{\"data\":\(text)}".utf8)]
            }
          }
        ),
        (
          "variables with \(name)",
          { count in
            let text = object(count)
            return Exchange("variables with \(name)") {
              $0.operation.variables = text
              $0.request.body = Array("{\"query\":\"{ books { id } }\",\"variables\":\(text)}".utf8)
            }
          }
        ),
      ]
    }
    all.append(
      (
        "many errors",
        { count in
          let errors = Array(repeating: #"{"message":"no books today","path":["books",0]}"#, count: count / 48)
          return Exchange("many errors") { $0.results = [ResultSample(errors: "[\(errors.joined(separator: ","))]")] }
        }
      ))
    if kind == .graphQL || kind == .cache {
      all += [
        (
          "a document with many fields",
          { count in
            let fields = (0..<(count / 32)).map { "field\($0): books(first: \($0)) { id }" }
            return Exchange("a document with many fields") {
              $0.operation.document = "query Books { \(fields.joined(separator: " ")) }"
            }
          }
        ),
        (
          "a document whose fragments spread the next one twice",
          { count in
            let depth = count > bytes ? 22 : 8
            let fragments = (0..<depth).map { "fragment F\($0) on Book { a: next { ...F\($0 + 1) } b: next { ...F\($0 + 1) } }" }
            return Exchange("a document whose fragments spread the next one twice") {
              $0.operation.document =
                "query Books { books { ...F0 } } \(fragments.joined(separator: " ")) fragment F\(depth) on Book { id }"
            }
          }
        ),
        (
          "a document with a long comment",
          { count in
            Exchange("a document with a long comment") {
              $0.operation.document = "query Books { books { id } } # " + String(repeating: "a", count: count)
            }
          }
        ),
        (
          "a document with much white space",
          { count in
            Exchange("a document with much white space") {
              $0.operation.document = "query Books {" + String(repeating: " \n", count: count / 2) + "books { id } }"
            }
          }
        ),
      ]
    }
    return all
  }
}
