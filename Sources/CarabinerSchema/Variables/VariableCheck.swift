internal import CarabinerWire

/// Checks the variables of one request. The lists and objects that are being read are on a stack, so deep values need no deep calls.
struct VariableCheck {
  /// A list or an object that is being read.
  private struct Frame {
    enum Content {
      case list([JSONValue], of: Schema.TypeReference)
      case object(JSONObject, of: Schema.NamedType)
    }

    let content: Content
    var next = 0
  }

  private let validator: VariableValidator
  private let uploads: Set<String>
  private(set) var problems: [VariableProblem] = []
  private var requiredNames = RequiredNames()
  private var variable = ""
  private var frames: [Frame] = []

  init(_ validator: VariableValidator, uploads: Set<String>) {
    self.validator = validator
    self.uploads = uploads
  }

  /// Whether no more problems are reported.
  private var isFull: Bool { problems.count >= validator.maximumProblems }

  mutating func check(_ definition: GraphQLDocument.VariableDefinition, in variables: JSONObject) {
    // A type that is not defined is a problem of the document.
    guard !isFull, let type = validator.schema.reference(definition.type) else { return }
    variable = definition.name
    guard let value = variables[definition.name] else {
      if type.isNonNull, definition.defaultValue == nil {
        report("the operation needs the variable $\(variable), of type \(type); add it to the variables")
      }
      return
    }
    begin(value, as: type)
    while !isFull, let last = frames.indices.last {
      if case .list(let elements, let type) = frames[last].content { skipLeaves(in: elements, of: type) }
      let next = frames[last].next
      frames[last].next += 1
      switch frames[last].content {
      case .list(let elements, let type) where next < elements.count: begin(elements[next], as: type)
      case .object(let object, let type) where next < object.count: check(object[next], of: type)
      case .list, .object: frames.removeLast()
      }
    }
    frames = []
  }

  /// Skips elements of the innermost list that are valid scalars or values of an enumeration. Long lists mostly have such elements, and to
  /// look up their type for each one takes several times as long.
  private mutating func skipLeaves(in elements: [JSONValue], of reference: Schema.TypeReference) {
    guard !reference.isList, let type = validator.schema.type(of: reference), type.isInput else { return }
    var next = frames[frames.count - 1].next
    while next < elements.count, type.accepts(elements[next]), !elements[next].isNull { next += 1 }
    frames[frames.count - 1].next = next
  }

  /// Checks a value, without the parts of a list or an object.
  private mutating func begin(_ value: JSONValue, as reference: Schema.TypeReference) {
    if value.isNull {
      if reference.isNonNull, !isUpload { report(.wrong("null", reference.description)) }
      return
    }
    var reference = reference
    while let element = reference.element {
      if case .array(let elements) = value { return frames.append(Frame(content: .list(elements, of: element))) }
      // One value is a list of one.
      reference = element
    }
    guard let type = validator.schema.type(of: reference), type.isInput else { return }
    if type.kind == .inputObject, case .object(let object) = value {
      begin(object, of: type)
    } else if !type.accepts(value) {
      var suggestion = ""
      if case .string(let text) = value, type.kind == .enumeration {
        suggestion = self.suggestion(for: text, among: type.values.map(\.name))
      }
      report(.wrong(value.shortText, type.name), suggestion)
    }
  }

  private mutating func begin(_ object: JSONObject, of type: Schema.NamedType) {
    if !type.acceptsFields(count: object.count, hasNull: object.contains { $0.value.isNull }) { report(.notOneField(type.name)) }
    for name in requiredNames.names(of: type.name, type.inputFields) where !isFull && !object.contains(name) {
      report(.missingField(name, of: type.name))
    }
    frames.append(Frame(content: .object(object, of: type)))
  }

  private mutating func check(_ member: JSONObject.Member, of type: Schema.NamedType) {
    if let field = type.inputField(named: member.key), field.name.isExactly(member.key) {
      begin(member.value, as: field.type)
    } else {
      let hint = suggestion(for: member.key, among: type.inputFields.map(\.name))
      report(.unknownField(member.key.shortName, of: type.name), hint)
    }
  }

  // MARK: Problems

  /// " (did you mean …?)", if suggestions are on and a name is similar.
  private func suggestion(for name: String, among names: @autoclosure () -> [String]) -> String {
    validator.suggestsNames && !isFull ? Suggestion.text(for: name, among: names()) : ""
  }

  private mutating func report(_ fault: ValueFault, _ suggestion: String = "") { report(fault.message + suggestion) }

  private mutating func report(_ message: String) {
    if !isFull { problems.append(VariableProblem(variable: variable, path: path, message: message)) }
  }

  /// The place of the value that is checked.
  private var path: String {
    frames.reduce(into: variable) { path, frame in
      switch frame.content {
      case .list: path += "[\(frame.next - 1)]"
      case .object(let object, _):
        let name = object[frame.next - 1].key
        path += GraphQLName.isValid(name) ? ".\(name.shortened)" : "[\(name.shortName)]"
      }
    }
  }

  /// Whether a file belongs to the place of the value that is checked.
  private var isUpload: Bool {
    if uploads.isEmpty { return false }
    let path = frames.reduce(into: "variables.\(variable)") { path, frame in
      switch frame.content {
      case .list: path += ".\(frame.next - 1)"
      case .object(let object, _): path += ".\(object[frame.next - 1].key)"
      }
    }
    return uploads.contains(path)
  }
}
