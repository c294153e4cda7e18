internal import CarabinerGenerator
internal import CarabinerWire
internal import CarabinerYAML

/// Reads values of a configuration, and collects their problems with places in the text.
struct SettingsReader {
  let file: String
  let document: YAMLDocument
  private(set) var problems: [GeneratorProblem] = []

  init(_ document: YAMLDocument, file: String) {
    self.document = document
    self.file = file
  }

  mutating func problem(_ pointer: JSONPointer, _ message: String) { problems.append(problem(at: pointer, message)) }

  /// A problem that is not reported yet.
  func problem(at pointer: JSONPointer, _ message: String = "") -> GeneratorProblem {
    let place = document.place(of: pointer)
    return GeneratorProblem(file: file, line: place?.line ?? 1, column: place?.column ?? 1, message: message)
  }

  // MARK: Values

  /// The members of an object. Unknown keys are problems.
  mutating func object(_ json: JSONValue, _ pointer: JSONPointer, knowing keys: [String]) -> JSONObject? {
    guard let object = anyObject(json, pointer) else { return nil }
    for key in object.keys where !keys.contains(key) {
      problem(
        pointer.appending(key),
        "unknown key \(key)\(Suggestion.text(for: key, among: keys)); known are \(keys.joined(separator: ", "))")
    }
    return object
  }

  /// The members of an object whose keys are names.
  mutating func anyObject(_ json: JSONValue, _ pointer: JSONPointer) -> JSONObject? {
    guard let object = json.object else {
      wrongType(json, pointer, "an object")
      return nil
    }
    return object
  }

  /// A text that is not empty.
  mutating func text(_ json: JSONValue, _ pointer: JSONPointer) -> PlacedText? {
    guard let text = json.string else {
      wrongType(json, pointer, "a text")
      return nil
    }
    guard !text.isEmpty, !text.utf8.contains(0) else {
      problem(pointer, "this text is empty or has a NUL; correct it, or remove the key")
      return nil
    }
    let place = document.place(of: pointer)
    return PlacedText(text, line: place?.line ?? 1, column: place?.column ?? 1)
  }

  /// A text, or a list of texts that is not empty.
  mutating func texts(_ json: JSONValue, _ pointer: JSONPointer) -> [PlacedText] {
    guard let elements = json.array else { return text(json, pointer).map { [$0] } ?? [] }
    if elements.isEmpty { problem(pointer, "this list is empty; name at least one file") }
    return elements.enumerated().compactMap { text($1, pointer.appending($0)) }
  }

  mutating func truth(_ json: JSONValue, _ pointer: JSONPointer) -> Bool? {
    guard let truth = json.bool else {
      wrongType(json, pointer, "true or false")
      return nil
    }
    return truth
  }

  /// One of several words.
  mutating func word<Value>(_ json: JSONValue, _ pointer: JSONPointer, _ words: [(String, Value)]) -> Value? {
    guard let text = text(json, pointer)?.text else { return nil }
    if let (_, value) = words.first(where: { $0.0 == text }) { return value }
    let known = words.map(\.0)
    let suggestion = Suggestion.text(for: text, among: known)
    problem(pointer, "\(text) is not known here\(suggestion); known are \(known.joined(separator: ", "))")
    return nil
  }

  /// The name of a Swift type or module, which may be qualified.
  mutating func swiftName(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = text(json, pointer)?.text else { return nil }
    guard text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*/) != nil else {
      problem(pointer, "\(text.debugDescription) is not a name in Swift; write one such as Money or Shop.Money")
      return nil
    }
    return text
  }

  mutating func wrongType(_ json: JSONValue, _ pointer: JSONPointer, _ expected: String) {
    problem(pointer, "this is a JSON \(json.kind), and \(expected) is expected; write \(expected)")
  }
}
