internal import CarabinerWire

/// The fields of an object for a choice of the parts of its selection.
final class SelectionVariant: Sendable {
  /// The parts that apply, one bit each.
  struct Choice: Hashable, Sendable {
    var applied: UInt64 = 1
    /// The parts for which this is certain, and not only assumed.
    var known: UInt64 = 0
  }

  /// A class, because passing on a value with six references is expensive.
  final class Field: Sendable {
    let responseKey: String
    let name: String
    let key: PlanSource.FieldKey
    let arguments: [GraphQLDocument.Argument]
    /// The field's name in the response with its quotes and colon.
    let label: [UInt8]
    /// The selection of the objects of the field; nil for a scalar.
    let selection: SelectionPlan?
    /// The parts that select the field, one bit each.
    let parts: UInt64

    init(_ field: PlanSource.Field, _ selection: SelectionPlan?, parts: UInt64) {
      self.parts = parts
      responseKey = field.responseKey
      name = field.name
      key = field.key
      arguments = field.arguments
      var label: [UInt8] = []
      JSONWriter.appendString(field.responseKey, to: &label)
      label.append(UInt8(ascii: ":"))
      self.label = label
      self.selection = selection
    }
  }

  /// The name of a field for the search in a response, which usually takes one comparison.
  struct Label: Sendable {
    /// The number of bytes.
    let count: Int
    /// Its first eight bytes as a little-endian number. Missing bytes are 0.
    let head: UInt64
    /// The bits of eight bytes of a text that the head is compared with.
    let mask: UInt64
    /// The last eight bytes as such a number, for names of 9 to 16 bytes.
    let tail: UInt64
    /// The bytes after the head of a longer name; otherwise empty.
    let rest: [UInt8]

    init(_ name: String) {
      let bytes = Array(name.utf8)
      count = bytes.count
      head = Self.word(bytes.prefix(8))
      tail = Self.word(bytes.suffix(8))
      mask = bytes.count < 8 ? 1 << (8 * UInt64(bytes.count)) - 1 : .max
      rest = bytes.count > 16 ? Array(bytes.dropFirst(8)) : []
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
  }

  let fields: [Field]
  /// The facts of a record about type conditions, each `true` or `false`.
  let facts: [(name: String, value: Bool)]
  /// The fields' names in a response.
  let labels: [Label]
  /// The size of the names in a response with their quotes and colons, in bytes.
  let labelBytes: Int
  /// Whether objects of this variant have only scalars, and their records have no facts about type conditions.
  let isFlat: Bool
  /// The keys of the fields and the facts; nil if a key depends on variables.
  let constantNames: FieldNames?
  /// The position of `__typename`; nil if it is not selected.
  let typeField: Int?
  /// The position of `id`; nil if it is not selected.
  let idField: Int?

  init(_ choice: Choice, _ parts: [SelectionPlan.Part], _ source: PlanSource) throws(PlanError) {
    var chosen: [(order: Int, field: PlanSource.Field, part: Int)] = []
    var facts: [(name: String, value: Bool)] = []
    for (number, part) in parts.enumerated() {
      let applies = choice.applied & 1 << UInt64(number) != 0
      if applies { chosen += part.fields.map { ($0.order, $0.field, number) } }
      if let fact = part.fact, choice.known & 1 << UInt64(number) != 0, !facts.contains(where: { $0.name == fact }) {
        facts.append((fact, applies))
      }
    }
    if parts.count > 1 { chosen.sort { $0.order < $1.order } }
    var positions: [String: Int] = [:]
    var merged: [MergedField] = []
    for (_, field, part) in chosen {
      let selection = field.set.map { SelectionPlan.Selection(set: $0, latePart: parts[part].latePart) }
      if let position = positions[field.responseKey] {
        merged[position].add(selection, of: part)
      } else {
        positions[field.responseKey] = merged.count
        merged.append(MergedField(field, selection, of: part))
      }
    }
    let fields = try merged.map { field throws(PlanError) in try field.field(source) }
    self.fields = fields
    self.facts = facts
    isFlat = facts.isEmpty && fields.allSatisfy { $0.selection == nil }
    labels = fields.map { Label($0.responseKey) }
    labelBytes = fields.reduce(0) { $0 + $1.label.count }
    typeField = fields.firstIndex { $0.name == "__typename" }
    idField = fields.firstIndex { $0.name == "id" && $0.arguments.isEmpty }
    constantNames = Self.names(fields, facts) { _ in nil }
  }

  /// The keys of the fields and the facts; nil if a key is missing.
  func names(_ call: PlanCall) -> FieldNames {
    constantNames ?? Self.names(fields, facts) { call.dynamicKeys[$0] } ?? FieldNames()
  }

  private static func names(
    _ fields: [Field], _ facts: [(name: String, value: Bool)], _ dynamic: (Int) -> String?
  ) -> FieldNames? {
    var names: [String] = []
    names.reserveCapacity(fields.count + facts.count)
    for field in fields {
      switch field.key {
      case .constant(let name): names.append(name)
      case .dynamic(let number):
        guard let name = dynamic(number) else { return nil }
        names.append(name)
      }
    }
    for fact in facts { names.append(fact.name) }
    return FieldNames(names)
  }
}

/// A field that several parts may select.
private struct MergedField {
  private let field: PlanSource.Field
  private var parts: UInt64
  private var selections: [SelectionPlan.Selection]

  init(_ field: PlanSource.Field, _ selection: SelectionPlan.Selection?, of part: Int) {
    self.field = field
    parts = 1 << UInt64(part)
    selections = selection.map { [$0] } ?? []
  }

  mutating func add(_ selection: SelectionPlan.Selection?, of part: Int) {
    parts |= 1 << UInt64(part)
    guard let selection else { return }
    if let known = selections.firstIndex(where: { $0.set == selection.set }) {
      // A set that also arrives with the object itself is not late.
      if selection.latePart == nil { selections[known] = selection }
    } else {
      selections.append(selection)
    }
  }

  func field(_ source: PlanSource) throws(PlanError) -> SelectionVariant.Field {
    // If all sets arrive together, they arrive with the field.
    let areTogether = Set(selections.map(\.latePart)).count < 2
    let selections = areTogether ? selections.map { SelectionPlan.Selection(set: $0.set, latePart: nil) } : selections
    return SelectionVariant.Field(field, selections.isEmpty ? nil : try SelectionPlan(selections, source), parts: parts)
  }
}
