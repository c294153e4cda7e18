internal import CarabinerWire
internal import FoundationEssentials

/// Builds a response from records, level by level, with one cache read per level.
struct ResponseLoader: ~Copyable {
  /// A response from the cache.
  struct Loaded {
    /// The response as JSON. Its data is between ``opening`` and the last brace.
    let text: [UInt8]
    /// The fields of the response as `record.field`, including missing ones; empty if they are not requested.
    var dependentKeys: Set<String>
    /// Whether nothing is missing.
    let isComplete: Bool
    /// The deferred fragments that were left out.
    var pending: [PendingFragment] = []

    static let opening = Array(#"{"data":"#.utf8)

    var body: ResponseBody {
      ResponseBody(located: Data(text), data: Self.opening.count..<text.count - 1)
    }
  }

  /// An object of the response.
  struct Node {
    let record: Record
    let variant: SelectionVariant
    /// The index of this object's first field in `places`; nil if the record's buffer is the object.
    let places: Int?
    /// The node of the first object below this one.
    let firstChild: Int
  }

  /// An object that a field refers to.
  struct Pending {
    let key: String
    let plan: SelectionPlan
    /// The node of the field; -1 for the root.
    let parent: Int
    /// The field's position.
    let field: Int
  }

  /// The place of a field that the record does not have.
  static var missing: Int { .min }

  let plan: OperationPlan
  private let rootKey: String
  let call: PlanCall
  let variables: JSONObject
  let policy: CacheKeyPolicy
  private let now: Int64
  /// Whether fields that are missing or too old are left out. If false, one of them makes the response nil.
  private let isPartial: Bool
  private var isComplete = true
  private(set) var nodes: [Node] = []
  /// The position of each field of each node in its record; negative numbers refer to references from field policies.
  private(set) var places: [Int] = []
  private(set) var made: [[UInt8]] = []
  /// The deferred fragments that may be left out; nil if none may.
  var deferred: DeferredFragments?
  private var next: [Pending] = []
  /// The selection of the last object, which is usually also that of the next one.
  private var lastOfOnePart: (plan: SelectionPlan, variant: SelectionVariant)?

  init(
    _ plan: OperationPlan, rootKey: String? = nil, variables: JSONObject, policy: CacheKeyPolicy, now: Int64,
    isPartial: Bool = false, deferred: DeferredFragments? = nil
  ) {
    self.plan = plan
    self.deferred = deferred
    self.rootKey = rootKey ?? plan.rootKey
    self.isPartial = isPartial
    call = plan.call(variables: variables)
    self.variables = variables
    self.policy = policy
    self.now = now
    nodes.reserveCapacity(16)
    places.reserveCapacity(64)
  }

  /// The response; nil if a field is missing or too old that may not be left out.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `malformedRecord`.
  mutating func load(from cache: any NormalizedCache, wantsDependentKeys: Bool = false) async throws -> Loaded? {
    let (plan, call, policy, isShared) = (plan, call, policy, cache.isShared)
    let found = try await cache.record(forKey: rootKey, fields: { Self.fields(of: plan.root, call, policy) })
    // Field policies find objects even if the root has no record.
    let empty = policy.findsObjects && rootKey == plan.rootKey ? Record(key: rootKey, table: FieldTable()) : nil
    guard let root = found ?? empty, try add(root, Pending(key: rootKey, plan: plan.root, parent: -1, field: 0), 1) else {
      return nil
    }
    while !next.isEmpty {
      let level = next
      next = []
      let records =
        try await isShared ? cache.records(for: fields(of: level)) : cache.records(forKeys: level.map(\.key))
      let firstOfNext = nodes.count + level.count
      for (position, pending) in level.enumerated() {
        guard let record = records[position] ?? replacement(pending), try add(record, pending, firstOfNext) else { return nil }
      }
    }
    var data: [UInt8] = []
    data.reserveCapacity(nodes.reduce(into: 64) { $0 += $1.record.table.buffer.count + $1.variant.labelBytes + 16 })
    data += Loaded.opening
    try append(0, to: &data)
    data.append(UInt8(ascii: "}"))
    return Loaded(
      text: data, dependentKeys: wantsDependentKeys ? dependentKeys() : [], isComplete: isComplete, pending: pendingFragments())
  }

  /// The keys of some objects, each with the fields of its record that may be needed.
  private func fields(of objects: [Pending]) -> [(key: String, fields: [String])] {
    // The objects of a list have the same selection.
    var last: (plan: SelectionPlan, fields: [String])?
    return objects.map { object in
      if let last, last.plan === object.plan { return (object.key, last.fields) }
      let fields = Self.fields(of: object.plan, call, policy)
      last = (object.plan, fields)
      return (object.key, fields)
    }
  }

  /// The fields of a record that a selection may need.
  private static func fields(of selection: SelectionPlan, _ call: PlanCall, _ policy: CacheKeyPolicy) -> [String] {
    var fields: [String] = []
    for part in selection.parts {
      fields += part.fields.map { call.name($0.field.key) }
      if let fact = part.fact { fields.append(fact) }
    }
    let needsType = selection.hasTypeConditions || !policy.isAgeless || policy.findsObjects
    if needsType, !fields.contains("__typename") { fields.append("__typename") }
    return fields
  }

  // MARK: Gathering

  /// Adds an object, and the keys of the objects below it to the next level.
  ///
  /// - Returns: Whether all needed fields are there.
  private mutating func add(_ record: Record, _ pending: Pending, _ firstOfNext: Int) throws -> Bool {
    deferred?.path.append(pending)
    guard let variant = try variant(for: record, pending.plan) else { return false }
    if variant.isFlat, policy.isAgeless, let names = variant.constantNames, record.table.isObjectText(for: names) {
      nodes.append(Node(record: record, variant: variant, places: nil, firstChild: 0))
      return true
    }
    nodes.append(Node(record: record, variant: variant, places: places.count, firstChild: firstOfNext + next.count))
    let type = policy.isAgeless ? "" : typeName(of: record)
    for position in variant.fields.indices {
      let field = variant.fields[position]
      let name = name(field.key)
      guard let place = record.table.position(of: name, hint: position) else {
        guard let reference = reference(field, record) else {
          guard leaveOut(field) else { return false }
          continue
        }
        made.append(reference)
        places.append(-made.count)
        try ask(reference.span, position, of: record)
        continue
      }
      if !policy.isAgeless, let age = policy.maximumAge(of: field.name[...], type: type),
        record.table.received(at: place) + age <= now
      {
        guard leaveOut(field) else { return false }
        continue
      }
      places.append(place)
      if field.selection != nil {
        let buffer = record.table.buffer
        try ask(buffer.span.extracting(record.table.range(at: place)), position, of: record)
      }
    }
    return true
  }

  /// Leaves a field of the last node out.
  ///
  /// - Returns: Whether the response can do without it.
  private mutating func leaveOut(_ field: SelectionVariant.Field) -> Bool {
    isComplete = false
    places.append(Self.missing)
    return isPartial || leaveOutFragments(with: field.parts, of: nodes.count - 1)
  }

  /// An empty record for one that is missing; nil if the response requires it.
  private mutating func replacement(_ pending: Pending) -> Record? {
    isComplete = false
    let canDoWithout =
      isPartial || leaveOutFragments(with: nodes[pending.parent].variant.fields[pending.field].parts, of: pending.parent)
    return canDoWithout ? Record(key: pending.key, table: FieldTable()) : nil
  }

  private mutating func ask(_ value: Span<UInt8>, _ position: Int, of record: Record) throws {
    let (parent, field) = (nodes.count - 1, nodes[nodes.count - 1].variant.fields[position])
    guard let selection = field.selection else { return }
    var offset = 0
    while offset < value.count {
      if value[offset] == UInt8(ascii: "{") {
        guard let key = Reference.key(in: value, at: &offset) else {
          throw StoreError.malformed(record: record.key, field: field.name)
        }
        next.append(Pending(key: key, plan: selection, parent: parent, field: position))
      } else {
        offset += 1
      }
    }
  }

  /// The selected fields of an object; nil if a type condition cannot be decided.
  private mutating func variant(for record: Record, _ plan: SelectionPlan) throws -> SelectionVariant? {
    if plan.parts.count == 1, let lastOfOnePart, lastOfOnePart.plan === plan { return lastOfOnePart.variant }
    guard let choice = choice(record, plan) else { return nil }
    let variant = try plan.variant(choice)
    if plan.parts.count == 1 { lastOfOnePart = (plan, variant) }
    return variant
  }

  /// The parts that apply to an object; nil if a type condition cannot be decided.
  private mutating func choice(_ record: Record, _ plan: SelectionPlan) -> SelectionVariant.Choice? {
    var choice = SelectionVariant.Choice()
    guard plan.parts.count > 1 else { return choice }
    let type = plan.hasTypeConditions ? typeName(of: record) : ""
    for number in plan.parts.indices.dropFirst() {
      let (part, bit) = (plan.parts[number], 1 << UInt64(number) as UInt64)
      guard choice.applied & 1 << UInt64(part.parent ?? 0) != 0, call.allows(part), !isLeftOut(part, of: record) else { continue }
      guard let applies = applies(part, of: plan, to: record, type) else {
        isComplete = false
        guard isPartial || leaveOutFragments(with: bit, of: nodes.count) else { return nil }
        continue
      }
      if applies { choice.applied |= bit }
    }
    return choice
  }

  /// Whether a part applies to an object; nil if that cannot be decided.
  private func applies(_ part: SelectionPlan.Part, of plan: SelectionPlan, to record: Record, _ type: String) -> Bool? {
    guard let fact = part.fact else { return true }
    if !type.isEmpty, let applies = part.applies(to: type, policy.storeSchema) { return applies }
    if let place = record.table.position(of: fact) { return record.table.bytes(at: place).first == UInt8(ascii: "t") }
    guard hasFields(of: part, record) else { return nil }
    // The record has the fields of two parts that exclude each other. Without the type of the object, neither can be chosen.
    let rivals = plan.parts.indices.filter { part.rivals & 1 << UInt64($0) != 0 }
    return rivals.contains { hasFields(of: plan.parts[$0], record) } ? nil : true
  }

  private func hasFields(of part: SelectionPlan.Part, _ record: Record) -> Bool {
    part.fields.allSatisfy { record.table.position(of: name($0.field.key)) != nil }
  }

  private func name(_ key: PlanSource.FieldKey) -> String { call.name(key) }

  func typeName(of record: Record) -> String {
    guard let place = record.table.position(of: "__typename") else {
      return record.key == rootKey ? plan.rootType : ""
    }
    return String(decoding: record.table.bytes(at: place).dropFirst().dropLast(), as: UTF8.self)
  }

  // MARK: Writing

  private func append(_ number: Int, to data: inout [UInt8]) throws {
    guard let places = nodes[number].places else {
      data += nodes[number].record.table.buffer
      return
    }
    let (table, variant) = (nodes[number].record.table, nodes[number].variant)
    let buffer = table.buffer
    var child = nodes[number].firstChild
    data.append(UInt8(ascii: "{"))
    let start = data.count
    for position in variant.fields.indices {
      let place = self.places[places + position]
      if place == Self.missing { continue }
      if data.count > start { data.append(UInt8(ascii: ",")) }
      let field = variant.fields[position]
      data.append(contentsOf: field.label)
      if field.selection == nil {
        data.append(contentsOf: buffer[table.range(at: place)])
      } else if place < 0 {
        let reference = made[-place - 1]
        try appendObjects(reference.span, &child, to: &data)
      } else {
        try appendObjects(buffer.span.extracting(table.range(at: place)), &child, to: &data)
      }
    }
    data.append(UInt8(ascii: "}"))
  }

  /// Writes a value with each reference replaced by its object.
  private func appendObjects(_ value: Span<UInt8>, _ child: inout Int, to data: inout [UInt8]) throws {
    var offset = 0
    while offset < value.count {
      if value[offset] == UInt8(ascii: "{"), Reference.skip(in: value, at: &offset) {
        try append(child, to: &data)
        child += 1
      } else {
        data.append(value[offset])
        offset += 1
      }
    }
  }

  private func dependentKeys() -> Set<String> {
    var keys: Set<String> = []
    for node in nodes {
      for field in node.variant.fields { keys.insert("\(node.record.key).\(name(field.key))") }
      for part in node.variant.facts { keys.insert("\(node.record.key).\(part.name)") }
    }
    return keys
  }
}
