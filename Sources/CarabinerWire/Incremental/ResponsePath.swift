/// A path in the data of a response: names and list indices from the root.
struct ResponsePath: Sendable, CustomStringConvertible {
  /// A step of a path: a member's name or an index.
  enum Step: Sendable {
    case name(String)
    case index(Int)
  }

  private(set) var steps: [Step]

  /// Parses a path. A `subPath` that is absent or null is an empty path.
  init(_ json: JSONValue?) throws(IncrementalError) {
    steps = []
    guard let json, !json.isNull else { return }
    guard let elements = json.array else { throw Self.malformed(json) }
    for element in elements {
      if let name = element.string {
        steps.append(.name(name))
      } else if let index = element.int, index >= 0 {
        steps.append(.index(index))
      } else {
        throw Self.malformed(json)
      }
    }
  }

  private init(steps: [Step]) { self.steps = steps }

  /// Returns a path below this one.
  func appending(_ other: ResponsePath) -> ResponsePath { ResponsePath(steps: steps + other.steps) }

  /// The list that contains this element, and its index; nil if this is not an element of a list.
  var element: (list: ResponsePath, index: Int)? {
    guard case .index(let index)? = steps.last else { return nil }
    return (ResponsePath(steps: steps.dropLast()), index)
  }

  /// The path as a JSON list.
  var json: JSONValue {
    .array(
      steps.map { step in
        switch step {
        case .name(let name): .string(name)
        case .index(let index): .number(JSONNumber(index))
        }
      })
  }

  var description: String { json.description }

  private static func malformed(_ json: JSONValue) -> IncrementalError {
    IncrementalError(.malformedPart, "\(json) is not a path; the server must send a list of names and indices")
  }
}

extension JSONValue {
  /// Changes the value at a path in place, without a copy of other parts of the tree.
  ///
  /// - Returns: The result of `body`; nil if there is no value at the path.
  mutating func change<Result, Failure: Error>(
    at path: ArraySlice<ResponsePath.Step>, _ body: (inout JSONValue) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let step = path.first else { return try body(&self) }
    let rest = path.dropFirst()
    // The value is removed from its container while it is changed. A second reference would cause a copy.
    switch self {
    case .object(var object):
      guard case .name(let name) = step else { return nil }
      self = .null
      defer { self = .object(object) }
      return try object.change(name) { (value) throws(Failure) in try value.change(at: rest, body) } ?? nil
    case .array(var array):
      guard case .index(let index) = step, array.indices.contains(index) else { return nil }
      self = .null
      defer { self = .array(array) }
      return try array[index].change(at: rest, body)
    default: return nil
    }
  }

  /// Merges another value into this one: objects by name, lists by index. All other values are replaced.
  mutating func merge(_ other: JSONValue) {
    switch self {
    case .object(var object):
      guard case .object(let others) = other else { break }
      self = .null
      for (key, value) in others where object.change(key, { $0.merge(value) }) == nil { object[key] = value }
      self = .object(object)
      return
    case .array(var array):
      guard case .array(let others) = other else { break }
      self = .null
      for (index, value) in others.enumerated() {
        if index < array.count { array[index].merge(value) } else { array.append(value) }
      }
      self = .array(array)
      return
    default: break
    }
    self = other
  }
}
