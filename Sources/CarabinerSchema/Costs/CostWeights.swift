internal import CarabinerWire

/// The weights of a schema.
///
/// Directives are read where they are. Only interfaces and unions have a table: their weights are the largest ones of their object types.
struct CostWeights: Sendable {
  let schema: Schema
  /// The names of fields whose lists may have the length that a field above them states.
  private(set) var sizedFields: Set<String> = []
  private var abstractTypes: [String: Double] = [:]
  /// Fields of interfaces by name, for each interface by name.
  private var abstractFields: [String: [String: (weight: Double, listSize: ListSize?)]] = [:]

  /// The weights of a schema; nil if it has neither `@cost` nor `@listSize`.
  init?(_ schema: Schema) {
    self.schema = schema
    var isUsed = false
    for type in schema.types {
      if type.appliedDirectives.costWeight != nil { isUsed = true }
      for field in type.fields {
        let size = field.appliedDirectives.listSize
        if size != nil || field.appliedDirectives.costWeight != nil { isUsed = true }
        sizedFields.formUnion(size?.sizedFields ?? [])
        if field.arguments.contains(where: { $0.appliedDirectives.costWeight != nil }) { isUsed = true }
      }
      if type.inputFields.contains(where: { $0.appliedDirectives.costWeight != nil }) { isUsed = true }
    }
    for directive in schema.directives where directive.arguments.contains(where: { $0.appliedDirectives.costWeight != nil }) {
      isUsed = true
    }
    guard isUsed else { return nil }
    for type in schema.types where type.kind == .interface || type.kind == .union { addAbstract(type) }
  }

  private mutating func addAbstract(_ type: Schema.NamedType) {
    let objects = schema.possibleTypes(of: type)
    abstractTypes[type.name] = objects.map { $0.appliedDirectives.costWeight ?? 1 }.max()
    for field in type.fields {
      let same = objects.compactMap { $0.field(named: field.name) }
      let weight = same.map { $0.appliedDirectives.costWeight ?? defaultWeight(of: $0.type) }.max()
      var size: ListSize?
      for other in same.compactMap(\.appliedDirectives.listSize) {
        var sum = size ?? ListSize(requiresOneSlicingArgument: false)
        sum.assumedSize = [sum.assumedSize, other.assumedSize].compactMap { $0 }.max()
        sum.slicingArguments += other.slicingArguments.filter { !sum.slicingArguments.contains($0) }
        sum.sizedFields += other.sizedFields.filter { !sum.sizedFields.contains($0) }
        size = sum
      }
      let ordinary = defaultWeight(of: field.type)
      if size != nil || weight ?? ordinary != ordinary {
        abstractFields[type.name, default: [:]][field.name] = (weight ?? ordinary, size)
      }
    }
  }

  /// The default weight, for a part without a directive: one, or zero if its type is a scalar or an enumeration.
  private func defaultWeight(of reference: Schema.TypeReference) -> Double {
    switch schema.selectedType(of: reference)?.kind {
    case .scalar?, .enumeration?: 0
    default: 1
    }
  }

  /// The weight of a field without its arguments and directives.
  func weight(of field: Schema.Field, in parent: Schema.NamedType) -> Double {
    field.appliedDirectives.costWeight ?? abstractFields[parent.name]?[field.name]?.weight ?? defaultWeight(of: field.type)
  }

  /// The list size of a field; nil if the schema states none.
  func listSize(of field: Schema.Field, in parent: Schema.NamedType) -> ListSize? {
    field.appliedDirectives.listSize ?? abstractFields[parent.name]?[field.name]?.listSize
  }

  /// The weight of an argument or an input field, without the input fields of its value.
  func weight(of input: Schema.InputValue) -> Double { input.appliedDirectives.costWeight ?? defaultWeight(of: input.type) }

  /// The weight of a value of a type, at least zero.
  func weight(of type: Schema.NamedType) -> Double {
    switch type.kind {
    case .scalar, .enumeration: max(type.appliedDirectives.costWeight ?? 0, 0)
    case .interface, .union: max(abstractTypes[type.name] ?? 1, 0)
    case .object, .inputObject: max(type.appliedDirectives.costWeight ?? 1, 0)
    }
  }
}
