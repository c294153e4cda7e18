/// An answer of Redis, or a value inside one.
///
/// The bytes of an answer stay together as they came; values are places in them.
package struct Reply: Sendable {
  /// The types of RESP3. RESP2 has the simple ones, ``text``, ``array`` and ``null``.
  package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// A status such as OK.
    case status
    /// An error. Its text begins with a code, such as WRONGTYPE.
    case error
    /// An integer of 64 bits.
    case integer
    /// Any bytes: a bulk string.
    case text
    /// A text with a format of three letters.
    case verbatim
    /// No value: of RESP3, or the text or array of RESP2 whose length is -1.
    case null
    case boolean
    /// A number with a fraction, also infinite or not a number.
    case double
    /// An integer of any length.
    case bigNumber
    case array
    /// Keys and values in turns, so the number of values is even.
    case map
    case set
    /// A message that answers no command. Its first value names its type.
    case push
  }

  /// A value: a range of bytes, a number, or the values of an aggregate.
  struct Node: Sendable {
    var kind: Kind
    /// For an aggregate the number of its values, else the number of its bytes.
    var count: UInt32
    /// For an integer or a boolean its value, for an aggregate the index of the node after its values, else the index of its first byte.
    var value: Int
  }

  private let bytes: [UInt8]
  private let nodes: [Node]
  private let index: Int

  init(bytes: [UInt8], nodes: [Node], index: Int = 0) {
    (self.bytes, self.nodes, self.index) = (bytes, nodes, index)
  }

  /// An error of the client, in place of an answer that did not come.
  ///
  /// - Parameter text: A code in capital letters and the reason.
  package init(error text: String) {
    let bytes = Array(text.utf8)
    self.init(bytes: bytes, nodes: [Node(kind: .error, count: UInt32(bytes.count), value: 0)])
  }

  private var node: Node { nodes[index] }

  /// The type.
  package var kind: Kind { node.kind }

  package var isNull: Bool { node.kind == .null }

  // MARK: Simple values

  /// The integer, or 0 and 1 for a boolean; nil for all other types.
  package var integer: Int? {
    switch node.kind {
    case .integer, .boolean: node.value
    default: nil
    }
  }

  /// The boolean; nil for all other types.
  package var boolean: Bool? { node.kind == .boolean ? node.value != 0 : nil }

  /// The number; nil for all types but double and integer.
  package var double: Double? {
    switch node.kind {
    case .double: Double(String(decoding: content ?? [], as: UTF8.self))
    case .integer: Double(node.value)
    default: nil
    }
  }

  /// The bytes of a text, status, error, double or big number; nil for all other types. The format of a verbatim text is left out.
  package var content: ArraySlice<UInt8>? {
    switch node.kind {
    case .status, .error, .text, .verbatim, .double, .bigNumber: bytes[node.value..<node.value + Int(node.count)]
    case .integer, .null, .boolean, .array, .map, .set, .push: nil
    }
  }

  /// The bytes as text; nil if ``content`` is nil or not UTF-8.
  package var string: String? { content.flatMap { String(validating: $0, as: UTF8.self) } }

  /// The three letters before a verbatim text, such as txt or mkd; nil for all other types.
  package var format: String? {
    // A colon is between the format and the text.
    node.kind == .verbatim ? String(decoding: bytes[node.value - 4..<node.value - 1], as: UTF8.self) : nil
  }

  /// The text of an error for people; nil for all other types. It has at most 300 characters, and none of them is a control character.
  ///
  /// The arguments that Redis repeats in the error about an unknown command are left out, because they may be secret.
  package var errorText: String? {
    guard node.kind == .error, let content else { return nil }
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: content, as: UTF8.self).unicodeScalars.prefix(300) {
      text.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    let words = String(text)
    guard let arguments = words.indices.first(where: { words[$0...].hasPrefix(", with args") }) else { return words }
    return String(words[..<arguments])
  }

  /// The first word of an error, such as NOAUTH; nil for all other types.
  package var errorCode: String? { errorText?.split(separator: " ", maxSplits: 1).first.map(String.init) }

  // MARK: Aggregates

  /// The values of an array, set or push, and keys and values of a map in turns; empty for all other types.
  package var values: Values {
    switch node.kind {
    case .array, .map, .set, .push: Values(reply: self, index: index + 1, end: node.value, count: Int(node.count))
    case .status, .error, .integer, .text, .verbatim, .null, .boolean, .double, .bigNumber:
      Values(reply: self, index: index, end: index, count: 0)
    }
  }

  /// The values of an aggregate in their order.
  package struct Values: Sequence, IteratorProtocol, Sendable {
    fileprivate let reply: Reply
    fileprivate var index: Int
    fileprivate let end: Int
    /// The number of values, without those in them.
    package let count: Int

    package mutating func next() -> Reply? {
      guard index < end else { return nil }
      let value = Reply(bytes: reply.bytes, nodes: reply.nodes, index: index)
      switch value.kind {
      case .array, .map, .set, .push: index = value.node.value
      case .status, .error, .integer, .text, .verbatim, .null, .boolean, .double, .bigNumber: index += 1
      }
      return value
    }
  }
}

extension Reply: Equatable {
  /// Whether both have the same types and contents, whatever their forms in bytes.
  package static func == (one: Reply, other: Reply) -> Bool {
    guard one.kind == other.kind, one.integer == other.integer, one.content == other.content, one.format == other.format else {
      return false
    }
    return one.values.count == other.values.count && one.values.elementsEqual(other.values)
  }
}
