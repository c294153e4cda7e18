internal import CarabinerWire
internal import Yams

/// YAML as the JSON value it stands for. What JSON cannot say, or what hides a mistake, is refused.
enum YAMLDocument {
  /// How large a manifest may be, 4 MiB.
  static let maximumBytes = 4 << 20
  /// How many values a manifest may have once its aliases are written out.
  static let maximumValues = 200_000
  /// How deep a manifest may be nested.
  static let maximumDepth = 64

  static func parse(_ text: String) throws(ManifestProblem) -> JSONValue {
    guard text.utf8.count <= maximumBytes else {
      throw ManifestProblem(.syntax, "the manifest has more than \(maximumBytes) bytes")
    }
    let node: Node?
    do {
      node = try Parser(yaml: text, resolver: .default).singleRoot()
    } catch {
      throw ManifestProblem(.syntax, "this is not YAML: \(error)")
    }
    guard let node else { throw ManifestProblem(.syntax, "the manifest is empty; begin with carabiner: 1") }
    var count = 0
    return try value(of: node, JSONPointer(), 0, &count)
  }

  private static func value(
    of node: Node, _ pointer: JSONPointer, _ depth: Int, _ count: inout Int
  ) throws(ManifestProblem) -> JSONValue {
    count += 1
    guard count <= maximumValues else {
      throw ManifestProblem(.syntax, at: pointer, "more than \(maximumValues) values; are aliases multiplying each other?")
    }
    guard depth < maximumDepth else {
      throw ManifestProblem(.syntax, at: pointer, "nested deeper than \(maximumDepth)")
    }
    switch node {
    case .scalar(let scalar):
      return self.scalar(scalar, node)
    case .sequence(let sequence):
      var elements: [JSONValue] = []
      for (index, element) in sequence.enumerated() {
        elements.append(try value(of: element, pointer.appending(index), depth + 1, &count))
      }
      return .array(elements)
    case .mapping(let mapping):
      var object = JSONObject()
      for (key, element) in mapping {
        guard let name = key.scalar?.string else {
          throw ManifestProblem(.syntax, at: pointer, "line \(key.mark?.line ?? 0): a key must be a text")
        }
        guard !object.contains(name) else {
          throw ManifestProblem(.syntax, at: pointer, "line \(key.mark?.line ?? 0): the key \(name) stands twice")
        }
        object[name] = try value(of: element, pointer.appending(name), depth + 1, &count)
      }
      return .object(object)
    case .alias:
      throw ManifestProblem(.syntax, at: pointer, "an alias that cannot be resolved")
    }
  }

  /// A plain scalar may be null, a truth value or a number; a quoted one is text.
  private static func scalar(_ scalar: Node.Scalar, _ node: Node) -> JSONValue {
    guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
    switch scalar.string {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    default: return JSONNumber(lexeme: scalar.string).map { .number($0) } ?? .string(scalar.string)
    }
  }
}
