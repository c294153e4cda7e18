internal import CarabinerWire

/// The variables of an upload: null wherever a file belongs.
struct FileVariables {
  /// How long a list may become by an index alone.
  private static let maximumIndex = 9999

  /// The variables as JSON.
  private(set) var value: JSONValue

  /// Puts null into variables wherever one of these files belongs.
  ///
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if two files or a file and a value have one place.
  init(_ variables: JSONObject, files: [GraphQLFile]) throws {
    value = .object(variables)
    var places: Set<[Substring]> = []
    for file in files {
      let place = file.fieldName.split(separator: ".", omittingEmptySubsequences: false)
      guard !place.contains("") else {
        throw Self.refusal(file, "is no place in the variables; write it like avatar, files.0 or input.picture")
      }
      guard places.insert(place).inserted else { throw Self.refusal(file, "is given two files; give it one") }
      value = try Self.placing(file, at: place[...], in: value)
    }
    for file in files where Self.find(file.fieldName.split(separator: ".")[...], in: value)?.isNull != true {
      throw Self.refusal(file, "is a file and has parts; give it one of both")
    }
  }

  private static func placing(_ file: GraphQLFile, at place: ArraySlice<Substring>, in value: JSONValue?) throws -> JSONValue {
    guard let step = place.first else {
      guard value?.isNull ?? true else { throw refusal(file, "has a value already; give it either the value or the file") }
      return .null
    }
    let rest = place.dropFirst()
    switch value {
    case .object(var object)?:
      object[String(step)] = try placing(file, at: rest, in: object[String(step)])
      return .object(object)
    case .array(let elements)?: return try placing(file, at: rest, at: step, in: elements)
    case .null?, nil:
      if index(step) != nil { return try placing(file, at: rest, at: step, in: []) }
      return .object([String(step): try placing(file, at: rest, in: nil)])
    default: throw refusal(file, "lies in a value that has no parts; correct the place or the variables")
    }
  }

  private static func placing(
    _ file: GraphQLFile, at rest: ArraySlice<Substring>, at step: Substring, in elements: [JSONValue]
  ) throws -> JSONValue {
    guard let index = index(step), index <= maximumIndex else {
      throw refusal(file, "lies in a list, and \(step) is no index from 0 to \(maximumIndex); correct it")
    }
    var elements = elements
    while elements.count <= index { elements.append(.null) }
    elements[index] = try placing(file, at: rest, in: elements[index])
    return .array(elements)
  }

  private static func find(_ place: ArraySlice<Substring>, in value: JSONValue) -> JSONValue? {
    guard let step = place.first else { return value }
    let child = index(step).flatMap { value[$0] } ?? value[String(step)]
    return child.flatMap { find(place.dropFirst(), in: $0) }
  }

  private static func index(_ step: Substring) -> Int? {
    step.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(step) : nil
  }

  private static func refusal(_ file: GraphQLFile, _ fault: String) -> RequestChainError {
    RequestChainError(.invalidRequest, "the variable \(file.fieldName) \(fault)")
  }
}
