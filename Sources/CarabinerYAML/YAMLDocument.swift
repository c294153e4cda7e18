package import CarabinerWire
internal import Yams

/// YAML converted to a JSON value. Constructs that JSON lacks, or that hide mistakes, are rejected.
package struct YAMLDocument {
  /// The most values of a document after its aliases are expanded.
  static let maximumValues = 200_000
  /// The deepest nesting of a document.
  package static let maximumDepth = 64

  /// The content of the document.
  package let value: JSONValue
  private let root: Node

  /// Reads a document.
  ///
  /// - Throws: ``YAMLProblem`` with the place of the first mistake.
  package init(_ text: String) throws(YAMLProblem) {
    try YAMLAliases.check(text)
    let node: Node?
    do {
      // The basic resolver takes every key as a text: `1` and `"1"` are the same key, as in JSON.
      node = try Parser(yaml: text, resolver: .basic).singleRoot()
    } catch {
      throw YAMLProblem(yaml: error, in: text)
    }
    guard let node else { throw YAMLProblem(.empty, "there is no value in the text; write at least one key") }
    root = node
    var count = 0
    value = try Self.value(of: node, JSONPointer(), 0, &count)
  }

  /// The place of a value, or of its closest ancestor that exists.
  package func place(of pointer: JSONPointer) -> YAMLProblem.Place? {
    var node = root
    var mark = root.mark
    for component in pointer.components {
      switch node {
      case .mapping(let mapping):
        guard let (key, value) = mapping.first(where: { $0.key.scalar?.string == component }) else { break }
        mark = key.mark ?? mark
        node = value
        continue
      case .sequence(let sequence):
        guard let index = Int(component), sequence.indices.contains(index) else { break }
        node = sequence[index]
        mark = node.mark ?? mark
        continue
      default: break
      }
      break
    }
    return mark.map { YAMLProblem.Place(line: $0.line, column: $0.column) }
  }

  private static func value(
    of node: Node, _ pointer: JSONPointer, _ depth: Int, _ count: inout Int
  ) throws(YAMLProblem) -> JSONValue {
    count += 1
    guard count <= maximumValues else {
      throw problem(.syntax, pointer, node, "there are more than \(maximumValues) values; do aliases expand each other?")
    }
    guard depth < maximumDepth else {
      throw problem(.tooDeep, pointer, node, "this is nested deeper than \(maximumDepth); make it flatter")
    }
    switch node {
    case .scalar(let scalar): return try self.scalar(scalar, node, pointer)
    case .sequence(let sequence):
      try check(sequence.tag, in: ["", "!", Tag.Name.seq.rawValue], pointer, node)
      var elements: [JSONValue] = []
      for (index, element) in sequence.enumerated() {
        elements.append(try value(of: element, pointer.appending(index), depth + 1, &count))
      }
      return .array(elements)
    case .mapping(let mapping):
      try check(mapping.tag, in: ["", "!", Tag.Name.map.rawValue], pointer, node)
      var object = JSONObject()
      for (key, element) in mapping {
        let name = try name(key, pointer)
        object[name] = try value(of: element, pointer.appending(name), depth + 1, &count)
      }
      return .object(object)
    case .alias:
      throw problem(.syntax, pointer, node, "this alias cannot be resolved; write its value out")
    }
  }

  private static func name(_ key: Node, _ pointer: JSONPointer) throws(YAMLProblem) -> String {
    guard let scalar = key.scalar else {
      throw problem(.syntax, pointer, key, "a key must be a text, and this is a list or an object")
    }
    guard scalar.string != "<<" || scalar.style != .plain else {
      throw problem(.syntax, pointer, key, "the merge key << is not supported; write the members out")
    }
    guard scalar.style != .plain || plain(scalar.string).string != nil else {
      throw problem(.syntax, pointer, key, "the key \(scalar.string) is not a text; put it in quotes")
    }
    return scalar.string
  }

  /// A plain scalar may be null, a boolean or a number. A quoted scalar is a text. A tag overrides both.
  private static func scalar(
    _ scalar: Node.Scalar, _ node: Node, _ pointer: JSONPointer
  ) throws(YAMLProblem) -> JSONValue {
    switch scalar.tag.rawValue {
    case "": return scalar.style == .plain ? plain(scalar.string) : .string(scalar.string)
    case "!", Tag.Name.str.rawValue: return .string(scalar.string)
    case Tag.Name.null.rawValue, Tag.Name.bool.rawValue, Tag.Name.int.rawValue, Tag.Name.float.rawValue:
      let value = plain(scalar.string)
      guard value.string == nil else {
        throw problem(.syntax, pointer, node, "\(scalar.string.debugDescription) does not fit its tag; remove the tag")
      }
      return value
    default:
      try check(scalar.tag, in: [], pointer, node)
      return .null
    }
  }

  private static func check(
    _ tag: Tag, in known: [String], _ pointer: JSONPointer, _ node: Node
  ) throws(YAMLProblem) {
    guard !known.contains(tag.rawValue) else { return }
    throw problem(.syntax, pointer, node, "the tag \(tag.rawValue) is not supported here; remove it")
  }

  private static func plain(_ text: String) -> JSONValue {
    switch text {
    case "", "~", "null", "Null", "NULL": .null
    case "true", "True", "TRUE": .bool(true)
    case "false", "False", "FALSE": .bool(false)
    default: JSONNumber(lexeme: text).map { .number($0) } ?? .string(text)
    }
  }

  private static func problem(
    _ code: YAMLProblem.Code, _ pointer: JSONPointer, _ node: Node, _ message: String
  ) -> YAMLProblem {
    var problem = YAMLProblem(code, at: pointer, message)
    problem.place = node.mark.map { YAMLProblem.Place(line: $0.line, column: $0.column) }
    return problem
  }
}

extension YAMLProblem {
  /// The parser's error without its excerpt of the text, which may contain secrets.
  fileprivate init(yaml error: any Error, in text: String) {
    switch error as? YamlError {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
      let advice = Self.isTab(at: mark, in: text) ? "; there is a tab, and YAML is indented by spaces only" : ""
      // Too deep nesting is the only error of the parser that is not about grammar.
      self.init(
        problem.contains("nesting level") ? .tooDeep : .syntax,
        "this is not YAML: \([context?.text, problem].compactMap(\.self).joined(separator: ", "))\(advice)")
      place = Place(line: mark.line, column: mark.column)
    case .composer(_, let problem, let mark, _):
      self.init(.syntax, "this YAML cannot be used: \(problem)")
      place = Place(line: mark.line, column: mark.column)
    case .duplicatedKeysInMapping(let duplicates, let context):
      self.init(
        .duplicateName, "the key \(duplicates.joined(separator: ", ")) occurs twice in one object; remove one of them")
      place = Place(line: context.mark.line, column: context.mark.column)
    case .reader(let problem, _, _, _): self.init(.syntax, "this is not YAML: \(problem)")
    default: self.init(.syntax, "this is not YAML: \(error)")
    }
  }

  private static func isTab(at mark: Mark, in text: String) -> Bool {
    let lines = text.split(separator: "\n", maxSplits: mark.line, omittingEmptySubsequences: false)
    guard lines.indices.contains(mark.line - 1) else { return false }
    return lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1).first == "\t"
  }
}
