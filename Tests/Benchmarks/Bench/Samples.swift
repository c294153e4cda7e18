internal import CarabinerWire

/// Texts that cases work on.
enum Samples {
  /// A response to ``document``: 9 items make 1 KB and 10 records with the root.
  static func response(items: Int) -> [UInt8] {
    let list = (0..<items).map { number in
      #"{"__typename":"Item","id":"\#(number)","name":"Item number \#(number)","price":\#(number).5,"inStock":true,"#
        + #""tags":["a","b"]}"#
    }
    return Array("{\"data\":{\"items\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// The document for ``response(items:)``.
  static let itemsDocument = "query Items { items { __typename id name price inStock tags } }"

  /// A list of 1,000 items of five fields each: 1,001 records.
  static func large() -> [UInt8] {
    let list = (0..<1000).map { number in
      #"{"__typename":"Row","id":"\#(number)","title":"The title of row \#(number)","count":\#(number * 37),"ratio":0.\#(number),"#
        + #""isOpen":\#(number % 2 == 0),"note":"nothing to say here"}"#
    }
    return Array("{\"data\":{\"rows\":[\(list.joined(separator: ","))]}}".utf8)
  }

  /// The document for ``large()``.
  static let largeDocument = "query Rows { rows { __typename id title count ratio isOpen note } }"

  /// A document of about 2 KB with everything documents have.
  static let longDocument: String = {
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
}
