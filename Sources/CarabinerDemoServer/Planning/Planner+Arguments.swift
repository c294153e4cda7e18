internal import CarabinerSchema
internal import CarabinerWire

/// The effect of directives on a selection.
struct DirectiveEffect {
  var isWanted = true
  var deferral: Deferral?
}

extension Planner {
  /// The arguments of a field or a directive with their defaults. Problems are recorded.
  mutating func arguments(
    _ given: [GraphQLDocument.Argument], _ definitions: [Schema.InputValue], of owner: String, at place: GraphQLPlaces.Place
  ) -> JSONObject {
    var names: Set<String> = []
    for argument in given {
      if !definitions.contains(where: { $0.name == argument.name }) {
        complain("the \(owner) has no argument \(argument.name.debugDescription)", at: place)
      }
      if !names.insert(argument.name).inserted {
        complain("the argument \(argument.name.debugDescription) of the \(owner) is given twice", at: place)
      }
    }
    var result = JSONObject()
    for definition in definitions {
      let literal = given.first { $0.name == definition.name }?.value
      do throws(CoercionFault) {
        if let value = try value(literal, for: definition) ?? definition.defaultJSON {
          result[definition.name] = value
        } else if definition.isRequired {
          throw CoercionFault(literal == nil ? "it is missing, and needs a \(definition.type)" : "the variable has no value")
        }
      } catch {
        complain("the argument \(definition.name.debugDescription) of the \(owner): \(error.message)", at: place)
      }
    }
    return result
  }

  private func value(_ literal: GraphQLDocument.Value?, for definition: Schema.InputValue) throws(CoercionFault) -> JSONValue? {
    guard let literal, let variables else { return nil }
    return try InputCoercion(schema: schema).coerced(
      literal: literal, to: definition.type.documentType, hasDefault: definition.defaultValue != nil, variables: variables)
  }

  /// The effect of the directives on a selection. Unknown and misplaced directives are recorded as problems.
  mutating func directives(
    _ directives: [GraphQLDocument.Directive], allowsDefer: Bool, at place: GraphQLPlaces.Place
  ) -> DirectiveEffect {
    var effect = DirectiveEffect()
    var names: Set<String> = []
    for directive in directives {
      let owner = "directive @\(directive.name)"
      if !names.insert(directive.name).inserted { complain("the \(owner) is given twice", at: place) }
      switch directive.name {
      case "include", "skip":
        let definitions = schema.directive(named: directive.name)?.arguments ?? []
        let condition = arguments(directive.arguments, definitions, of: owner, at: place)["if"]?.bool ?? false
        if condition != (directive.name == "include") { effect.isWanted = false }
      case "defer" where allowsDefer:
        let definitions = Schema.deferral.directive(named: directive.name)?.arguments ?? []
        let arguments = arguments(directive.arguments, definitions, of: owner, at: place)
        if arguments["if"]?.bool == true, mayDefer { effect.deferral = Deferral(label: arguments["label"]?.string) }
      case "defer": complain("@defer is allowed on fragments only", at: place)
      default: complain("there is no \(owner)", at: place)
      }
    }
    return effect
  }
}

extension Schema.InputValue {
  /// The default value as JSON; nil if there is none.
  var defaultJSON: JSONValue? { defaultValue?.resolved(with: [:]) }
}
