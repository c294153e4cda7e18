internal import CarabinerWire

/// Finds default values of input fields that contain themselves, because an object in them leaves out a field with a default value.
///
/// The fields without such a value are removed step by step, beginning with default values without objects. The remaining fields are on a
/// cycle, or lead to one. An object may leave out very many fields, so these are counted and not visited: the time is linear.
struct DefaultValueCycles {
  /// A field with a default value.
  struct Field {
    let type: Schema.NamedType
    let value: Schema.InputValue
    /// The numbers of the objects in the default value that are not resolved.
    fileprivate var unresolved = 0
    fileprivate var isSafe = false
  }

  /// An object in a default value.
  private struct Object {
    let type: Int
    let owner: Int
    /// The fields with default values that the object sets itself.
    let given: Set<Int>
    /// The number of fields of the type that must be safe, with those that are given and safe.
    var need: Int
  }

  private let schema: Schema
  private(set) var fields: [Field] = []
  private var numbers: [Int: [String: Int]] = [:]
  private var objects: [Object] = []
  private var objectsGiving: [[Int]] = []
  private var safeCounts: [Int: Int] = [:]
  /// The objects of a type by need. Entries with a need that has changed are ignored.
  private var waiting: [Int: [Int: [Int]]] = [:]
  /// The fields that remain.
  private(set) var cyclic: [[Int]] = []

  init(_ schema: Schema) {
    self.schema = schema
    for (id, type) in schema.storage.types.enumerated() {
      guard let type, type.kind == .inputObject else { continue }
      for value in type.inputFields where value.defaultValue != nil {
        numbers[id, default: [:]][value.name] = fields.count
        fields.append(Field(type: type, value: value))
      }
    }
    objectsGiving = Array(repeating: [], count: fields.count)
    for (number, field) in fields.enumerated() {
      if let value = field.value.defaultValue { collect(value, field.value.type, owner: number) }
    }
    resolve()
    findCycles()
  }

  private mutating func collect(_ value: GraphQLDocument.Value, _ reference: Schema.TypeReference, owner: Int) {
    switch value {
    case .list(let elements):
      guard let element = reference.element else { return }
      for value in elements { collect(value, element, owner: owner) }
    case .object(let members):
      let id = reference.id
      guard let type = schema.storage.types[id], type.kind == .inputObject else { return }
      let known = numbers[id] ?? [:]
      let given = Set(members.compactMap { known[$0.name] })
      for field in given { objectsGiving[field].append(objects.count) }
      let need = known.count - given.count
      waiting[id, default: [:]][need, default: []].append(objects.count)
      objects.append(Object(type: id, owner: owner, given: given, need: need))
      fields[owner].unresolved += 1
      for member in members {
        if let field = type.inputField(named: member.name) { collect(member.value, field.type, owner: owner) }
      }
    default: break
    }
  }

  private mutating func resolve() {
    var safe = fields.indices.filter { fields[$0].unresolved == 0 }
    for objects in waiting.values {
      for object in objects[0] ?? [] { settle(object, &safe) }
    }
    while let number = safe.popLast() {
      guard !fields[number].isSafe, let type = schema.storage.ids[fields[number].type.name] else { continue }
      fields[number].isSafe = true
      // An object that sets the field itself does not wait for it: the need rises with the count.
      for object in objectsGiving[number] {
        objects[object].need += 1
        waiting[type, default: [:]][objects[object].need, default: []].append(object)
      }
      let count = safeCounts[type, default: 0] + 1
      safeCounts[type] = count
      for object in waiting[type]?[count] ?? [] where objects[object].need == count && !objects[object].given.contains(number) {
        settle(object, &safe)
      }
    }
  }

  /// Records that an object contains nothing unsafe.
  private mutating func settle(_ object: Int, _ safe: inout [Int]) {
    let owner = objects[object].owner
    fields[owner].unresolved -= 1
    if fields[owner].unresolved == 0 { safe.append(owner) }
  }

  private mutating func findCycles() {
    var unsafe: [Int: [Int]] = [:]
    var first = [Int?](repeating: nil, count: fields.count)
    for (number, field) in fields.enumerated() where !field.isSafe {
      if let type = schema.storage.ids[field.type.name] { unsafe[type, default: []].append(number) }
    }
    if unsafe.isEmpty { return }
    for object in objects where !fields[object.owner].isSafe && first[object.owner] == nil {
      first[object.owner] = unsafe[object.type]?.first { !object.given.contains($0) }
    }
    cyclic = StronglyConnectedComponents(count: fields.count) { first[$0].map { [$0] } ?? [] }.cyclic
  }
}

extension SchemaValidator {
  mutating func checkDefaultValueCycles() {
    let cycles = DefaultValueCycles(schema)
    for cycle in cycles.cyclic {
      let members = cycle.map { cycles.fields[$0] }
      guard let first = members.first else { continue }
      let names = members.map { "\($0.type.name).\($0.value.name)" }
      report(
        .defaultValueCycles, "\(first.type.name).\(first.value.name)",
        "default values contain each other without an end: \(Self.names(names)); set the field in one of them, or remove a default",
        at: first.value.location)
    }
  }
}
