internal import CarabinerWire

/// The variables of an upload, with null in the place of each file.
struct FileVariables {
  /// The maximum index of a list element that is created for a file.
  private static let maximumIndex = 9999

  /// The variables as JSON.
  private(set) var value: JSONValue
  /// The path of each file in the variables, such as `files.0`.
  let places: [String]

  /// Sets null in the place of each file. It replaces any value there.
  ///
  /// Files with one name are the elements of a list. A single file is the first element if its variable is a list in the variables or
  /// in the document.
  ///
  /// - Parameters:
  ///   - variables: The variables, with or without values in the places of files.
  ///   - files: The files.
  ///   - document: The document that declares the variables; empty if it is not known.
  ///   - operationName: The operation in the document; nil for the only one.
  /// - Throws: ``RequestChainError`` with code `invalidRequest` if two files have the same path, or a path leads through a
  ///   scalar.
  init(_ variables: JSONObject, files: [GraphQLFile], document: String, operationName: String?) throws {
    value = .object(variables)
    places = Self.places(of: files, in: value, lists: Self.lists(in: document, operationName))
    var taken: Set<[Substring]> = []
    for (file, text) in zip(files, places) {
      let place = text.split(separator: ".", omittingEmptySubsequences: false)
      guard !place.contains("") else {
        throw Self.refusal(file, "is not a path in the variables; write it like avatar, files.0 or input.picture")
      }
      guard taken.insert(place).inserted else { throw Self.refusal(file, "has two files; pass one") }
      value = try Self.placing(file, at: place[...], in: value)
    }
    for (file, text) in zip(files, places) where Self.find(text.split(separator: ".")[...], in: value)?.isNull != true {
      throw Self.refusal(file, "is a file and also has members; pass the file or the members")
    }
  }

  private static func places(of files: [GraphQLFile], in variables: JSONValue, lists: Set<String>) -> [String] {
    let counts = files.reduce(into: [:]) { $0[$1.fieldName, default: 0] += 1 }
    var numbers: [String: Int] = [:]
    return files.map { file in
      let isList = lists.contains(file.fieldName) || find(file.fieldName.split(separator: ".")[...], in: variables)?.array != nil
      guard isList || counts[file.fieldName, default: 1] > 1 else { return file.fieldName }
      defer { numbers[file.fieldName, default: 0] += 1 }
      return "\(file.fieldName).\(numbers[file.fieldName, default: 0])"
    }
  }

  /// The variables that an operation declares as lists; empty if the document cannot be parsed.
  private static func lists(in document: String, _ operationName: String?) -> Set<String> {
    let variables = (try? GraphQLDocument(parsing: document))?.operation(named: operationName)?.variables ?? []
    return Set(variables.lazy.filter(\.type.isList).map(\.name))
  }

  private static func placing(_ file: GraphQLFile, at place: ArraySlice<Substring>, in value: JSONValue?) throws -> JSONValue {
    guard let step = place.first else { return .null }
    let rest = place.dropFirst()
    switch value {
    case .object(var object)?:
      object[String(step)] = try placing(file, at: rest, in: object[String(step)])
      return .object(object)
    case .array(let elements)?: return try placing(file, at: rest, at: step, in: elements)
    case .null?, nil:
      if index(step) != nil { return try placing(file, at: rest, at: step, in: []) }
      return .object([String(step): try placing(file, at: rest, in: nil)])
    // A placeholder for a list of files.
    case .some where index(step) != nil: return try placing(file, at: rest, at: step, in: [])
    default: throw refusal(file, "is in a value without members; correct the path or the variables")
    }
  }

  private static func placing(
    _ file: GraphQLFile, at rest: ArraySlice<Substring>, at step: Substring, in elements: [JSONValue]
  ) throws -> JSONValue {
    guard let index = index(step), index <= maximumIndex else {
      throw refusal(file, "is in a list, and \(step) is not an index from 0 to \(maximumIndex); correct it")
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

extension GraphQLDocument.TypeReference {
  fileprivate var isList: Bool {
    switch self {
    case .named: false
    case .list: true
    case .nonNull(let type): type.isList
    }
  }
}
