internal import CarabinerWire

/// Input texts of the cases.
package enum Samples {
  /// A response to ``document``. With 9 items it has 1 KB and 10 records, including the root.
  package static func response(items: Int) -> [UInt8] {
    let list = (0..<items).map { number in
      #"{"__typename":"Item","id":"\#(number)","name":"Item number \#(number)","price":\#(number).5,"inStock":true,"#
        + #""tags":["a","b"]}"#
    }
    return Array("{\"data\":{\"items\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// The document for ``response(items:)``.
  package static let itemsDocument = "query Items { items { __typename id name price inStock tags } }"

  /// A list of 1,000 items of five fields each: 1,001 records.
  package static func large() -> [UInt8] {
    let list = (0..<1000).map { number in
      #"{"__typename":"Row","id":"\#(number)","title":"The title of row \#(number)","count":\#(number * 37),"ratio":0.\#(number),"#
        + #""isOpen":\#(number % 2 == 0),"note":"nothing to say here"}"#
    }
    return Array("{\"data\":{\"rows\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// The texts of the measurements of JSON.
  package static let json: [(name: String, text: @Sendable () -> [UInt8])] = [
    ("1k", { response(items: 9) }), ("100k", large), ("numbers", numbers), ("articles", articles),
  ]

  /// 100 KB of numbers.
  package static func numbers() -> [UInt8] {
    let list = (0..<2600).map { number in
      "[\(number * 37),\(number % 180).\(412_734 + number),-\(number % 90).\(100 + number % 900),\(number % 4000),"
        + "\(number % 9 + 1).25e-\(number % 7)]"
    }
    return Array("{\"data\":{\"places\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// 100 KB of text: 150 articles, with some escapes and characters beyond ASCII.
  package static func articles() -> [UInt8] {
    let sentence = "The text of an article is a string of some hundred bytes, which a reader passes at once. "
    let list = (0..<150).map { number in
      #"{"id":"\#(number)","body":"\#(String(repeating: sentence, count: 6))\nThe café \"Zürich\" closes at \#(number)."}"#
    }
    return Array("{\"data\":{\"articles\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// The document for ``large()``.
  package static let largeDocument = "query Rows { rows { __typename id title count ratio isOpen note } }"

  /// A document of about 2 KB that uses every feature of the syntax.
  package static let longDocument: String = {
    var text = """
      query Catalog($first: Int = 20, $after: String, $filter: Filter = {states: [OPEN, HELD], near: {lat: 47.1, lon: 8.5}}) {
        catalog(first: $first, after: $after, filter: $filter) @include(if: true) { pageInfo { hasNextPage endCursor } total
          edges { cursor node { ...Entry } } } }
      fragment Entry on Entry { id title description price { amount currency }

      """
    for number in 0..<16 {
      text += "  section\(number): part(kind: K\(number), limit: \(number + 1)) "
      text += "{ name value ... on Text { body(format: \"plain\") } }\n"
    }
    return text + "}\n"
  }()

  /// The boundary of ``parts()``.
  package static let boundary = "b"

  /// 16 parts of 64 KB.
  package static func parts() -> [UInt8] {
    let part = large().prefix(64 << 10)
    var body: [UInt8] = []
    for _ in 0..<16 {
      body += Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + part + Array("\r\n".utf8)
    }
    return body + Array("--\(boundary)--\r\n".utf8)
  }

  /// A manifest with `count` rules. None of them applies to the mock's operation.
  package static func rules(_ count: Int, plugins: [String] = []) -> String {
    let rules = (0..<count).map { "  - {when: {operation: Operation\($0)}, chain: {graphql: [max-retry]}}\n" }.joined()
    return manifest(plugins: plugins) + "rules:\n\(rules)"
  }

  /// A manifest with entries `p0`, `p1` and so on for these files, the first `staged` of them in the `graphql` list.
  package static func manifest(plugins: [String], staged: Int = .max) -> String {
    let entries = plugins.enumerated().map { "  - {name: p\($0), file: \($1)}\n" }.joined()
    let stages = (["max-retry"] + plugins.indices.prefix(staged).map { "p\($0)" }).joined(separator: ", ")
    return """
      carabiner: 1
      plugins:\(plugins.isEmpty ? " []\n" : "\n" + entries)\
      chain: {graphql: [\(stages)], cache: []}

      """
  }
}
