package import CarabinerWire

/// The prices of fields by `@cost` and `@listSize` of the GraphQL Cost Directives Specification.
///
/// If the schema has none of these directives, all fields have the same price. Weights are those of the specification: zero for
/// scalars and enumerations, and for fields and arguments of these types; one for all others. A list without `@listSize` has the
/// length that the arguments for lists state, as without weights. The specification has no finite length for it.
package struct SchemaPricing: FieldPricing {
  package typealias Parent = Schema.NamedType?

  private let schema: Schema
  private let weights: CostWeights?
  private let uniform: UniformPricing

  /// - Parameters:
  ///   - schema: The schema; nil if it is not known.
  ///   - listArguments: The names of arguments that multiply the cost of the fields below.
  package init(_ schema: Schema?, listArguments: [String]) {
    self.schema = schema ?? .empty
    weights = schema.flatMap { CostWeights($0) }
    uniform = UniformPricing(listArguments: listArguments)
  }

  /// Whether the schema has weights or list sizes.
  package var hasWeights: Bool { weights != nil }

  package var sizedFields: Set<String> { weights?.sizedFields ?? [] }

  package func root(of type: Schema.OperationType) -> (parent: Schema.NamedType?, weight: Double) {
    guard let weights, let root = schema.rootType(of: type) else { return (nil, 0) }
    return (root, weights.weight(of: root))
  }

  package func parent(named type: String) -> Schema.NamedType? { weights == nil ? nil : schema.type(named: type) }

  package func weight(of value: JSONValue, as type: String) -> Double { weights?.weight(of: value, as: type) ?? 0 }

  package func price(
    of field: GraphQLDocument.Field, in parent: Schema.NamedType?
  ) -> (price: FieldPrice, below: Schema.NamedType?) {
    // A document with a field that is not defined is not valid. It must not become cheaper by that.
    guard let weights, let parent, let definition = schema.field(field.name, selectedOn: parent) else {
      return (uniform.price(of: field), nil)
    }
    var weight = FieldWeight(weights.weight(of: definition, in: parent))
    for argument in field.arguments {
      if let input = definition.argument(named: argument.name) { weights.add(argument.value, for: input, to: &weight) }
    }
    for directive in field.directives {
      guard let used = schema.directive(named: directive.name) else { continue }
      for argument in directive.arguments {
        if let input = used.argument(named: argument.name) { weights.add(argument.value, for: input, to: &weight) }
      }
    }
    let type = schema.selectedType(of: definition.type)
    let size = weights.listSize(of: definition, in: parent)
    let length = size.map { ListLength.sliced(slicing(field, definition, $0, in: parent)) }
    var price = FieldPrice(weight: weight, length: length ?? uniform.length(of: field.arguments))
    price.valueWeight = type.map { weights.weight(of: $0) } ?? 1
    price.sizedFields = size?.sizedFields ?? []
    price.isSizedFromAbove = size == nil
    return (price, type)
  }

  private func slicing(
    _ field: GraphQLDocument.Field, _ definition: Schema.Field, _ size: ListSize, in parent: Schema.NamedType
  ) -> SlicingArguments {
    var slicing = SlicingArguments(
      of: "\(parent.name).\(field.name)", named: size.slicingArguments, requiresOne: size.requiresOneSlicingArgument,
      assumedSize: size.assumedSize ?? 1)
    for name in size.slicingArguments {
      let given = field.arguments.first { $0.name == name }?.value
      slicing.add(given, default: definition.argument(named: name)?.defaultValue)
    }
    return slicing
  }
}
