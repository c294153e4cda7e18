internal import CarabinerWire

extension CostWeights {
  /// Adds the weight of an argument or an input field with the input fields of its value. Null has no weight: nothing is given.
  ///
  /// Recursive, because the parser limits how deep values are nested in the text.
  func add(_ value: GraphQLDocument.Value, for input: Schema.InputValue, to sum: inout FieldWeight) {
    let weight = weight(of: input)
    switch value {
    case .null: break
    case .variable(let name): add(name, weight, input.type, to: &sum)
    default:
      sum.constant += weight
      addFields(of: value, input.type, to: &sum)
    }
  }

  private func addFields(of value: GraphQLDocument.Value, _ reference: Schema.TypeReference, to sum: inout FieldWeight) {
    switch value {
    case .variable(let name): add(name, 0, reference, to: &sum)
    case .list(let elements): for element in elements { addFields(of: element, reference, to: &sum) }
    case .object(let members):
      guard let type = schema.type(of: reference) else { return }
      for member in members {
        if let field = type.inputField(named: member.name) { add(member.value, for: field, to: &sum) }
      }
    default: break
    }
  }

  /// Adds a variable, if its value can have a weight.
  private func add(_ variable: String, _ weight: Double, _ reference: Schema.TypeReference, to sum: inout FieldWeight) {
    guard weight != 0 || schema.type(of: reference)?.kind == .inputObject else { return }
    sum.variables.append(FieldWeight.Variable(name: variable, weight: weight, type: reference.name))
  }

  /// The sum of the weights of the input fields that the value of a variable uses. The parts of the value are on a stack, so deep values
  /// need no deep calls.
  func weight(of value: JSONValue, as type: String) -> Double {
    guard let type = schema.type(named: type), type.kind == .inputObject else { return 0 }
    var sum = 0.0
    var waiting = [(value, type)]
    while let (value, type) = waiting.popLast() {
      switch value {
      case .array(let elements): waiting += elements.map { ($0, type) }
      case .object(let members):
        for member in members where !member.value.isNull {
          guard let field = type.inputField(named: member.key) else { continue }
          sum += weight(of: field)
          if let type = schema.type(of: field.type), type.kind == .inputObject { waiting.append((member.value, type)) }
        }
      default: break
      }
    }
    return sum
  }
}
