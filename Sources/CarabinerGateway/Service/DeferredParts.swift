internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// Writes the results of a deferred response as multipart parts or events: in the incremental format of 2022-08-24, or in the later one
/// with ids.
///
/// The chain merges parts, so each result contains all earlier ones. Each written part contains only the data of its fragment.
/// The data is extracted from the merged result, because plugins may have changed it.
struct DeferredParts: Sendable {
  typealias Response = GraphQLResponse<DynamicOperation>

  private var isFirst = true
  /// Whether the last result came from the cache, with deferred fragments missing.
  private var lacksFragments = false
  /// The number of errors already sent.
  private var errorCount = 0
  /// The extensions that were sent last.
  private var extensions: JSONValue?
  /// Assigns ids to patches; nil if patches have paths instead.
  private var pending: PendingPatches?
  /// Whether the last part announced another one.
  private var announcesMore = false

  /// - Parameter usesIDs: Whether patches refer to pending fragments by their ids, as in `incrementalSpec=v0.2`.
  init(usesIDs: Bool = false) { pending = usesIDs ? PendingPatches() : nil }

  /// Returns the next part.
  mutating func part(_ response: Response, hasNext: Bool) -> [UInt8] {
    // The first server result after an incomplete one from the cache is sent as a whole.
    let isNew = isFirst || lacksFragments || response.delivery?.isIncremental ?? true
    lacksFragments = !response.pendingFragments.isEmpty
    announcesMore = hasNext
    guard isNew else { return ended([:], hasNext) }
    let body = response.body
    let errors = body.errors.flatMap { try? JSONValue(parsing: $0.span) }?.array ?? []
    let current = body.extensions.flatMap { try? JSONValue(parsing: $0.span) }
    let new = current == extensions ? nil : current
    var part: JSONObject
    if isFirst {
      isFirst = false
      part = (try? JSONValue(parsing: body.bytes.span))?.object ?? [:]
    } else {
      let patches = patches(of: response, errors.dropFirst(errorCount))
      part = pending?.part(patches) ?? ["incremental": .array(patches.map { .object($0) })]
      part["extensions"] = new
    }
    errorCount = errors.count
    extensions = new ?? extensions
    return ended(part, hasNext)
  }

  /// Returns the part that announces the end; nil if the last part has announced it, or if there was no part.
  mutating func ending() -> [UInt8]? {
    guard announcesMore else { return nil }
    announcesMore = false
    return ended([:], false)
  }

  private mutating func ended(_ part: JSONObject, _ hasNext: Bool) -> [UInt8] {
    var part = part
    if !hasNext { pending?.complete(&part) }
    part["hasNext"] = .bool(hasNext)
    return JSONValue.object(part).serialized()
  }

  private func patches(of response: Response, _ errors: ArraySlice<JSONValue>) -> [JSONObject] {
    let known = response.delivery?.patches ?? []
    var data = MergedData(response.body)
    var errors = errors
    var patches = known.map { patch in
      var object = patch.object(in: &data)
      if let label = patch.label { object["label"] = .string(label) }
      let own = errors.prefix(patch.errorCount)
      errors = errors.dropFirst(own.count)
      if !own.isEmpty { object["errors"] = .array(Array(own)) }
      return object
    }
    // A plugin produced the result, so the new part of it is unknown. All data is sent.
    if patches.isEmpty { patches = [["data": data.whole, "path": []]] }
    if !errors.isEmpty {
      let last = patches.count - 1
      patches[last]["errors"] = .array((patches[last]["errors"]?.array ?? []) + errors)
    }
    return patches
  }
}

extension IncrementalPatch {
  /// The entry of `incremental` for this patch, with its data as it is in the merged result.
  fileprivate func object(in data: inout MergedData) -> JSONObject {
    switch content {
    case .data(let added): ["data": data.value(at: path, limitedTo: added) ?? .null, "path": path]
    case .items(let items, let list, let start):
      ["items": .array(data.elements(of: list, from: start, limitedTo: items)), "path": list.appending(start)]
    case .null: ["data": .null, "path": path]
    }
  }
}

extension JSONValue {
  fileprivate func appending(_ index: Int) -> JSONValue { .array((array ?? []) + [.number(JSONNumber(index))]) }
}

/// The data of a merged result. Only requested parts are decoded, because a result may be large and there may be many parts.
private struct MergedData {
  private let bytes: Data
  private let tape: [JSONTape.Entry]
  /// The places of members and elements, by the place of their object or list. They are cached: many patches may belong to one long
  /// list, and a search for each would take quadratic time.
  private var members: [Int: [String: Int]] = [:]
  private var elements: [Int: [Int]] = [:]

  /// A result without data gives an empty tape.
  init(_ body: ResponseBody) {
    bytes = body.data ?? Data()
    tape = (try? JSONTape(scanning: bytes.span))?.entries ?? []
  }

  /// The whole data; null if there is none.
  var whole: JSONValue { tape.isEmpty ? .null : value(at: 0) }

  /// A value, limited to the members and elements that `other` also has; nil if there is no value at the path.
  ///
  /// - Parameter path: Names and indices.
  mutating func value(at path: JSONValue, limitedTo other: JSONValue) -> JSONValue? {
    place(of: path).map { value(at: $0, limitedTo: other) }
  }

  /// The elements of a list from `start` on, limited to the members that `items` have.
  mutating func elements(of path: JSONValue, from start: Int, limitedTo items: [JSONValue]) -> [JSONValue] {
    guard let list = place(of: path), case .array = tape[list].kind else { return [] }
    return elements(of: list, from: start, limitedTo: items)
  }

  private mutating func elements(of list: Int, from start: Int, limitedTo items: [JSONValue]) -> [JSONValue] {
    zip(elements(of: list).dropFirst(start), items).map { value(at: $0, limitedTo: $1) }
  }

  private mutating func value(at place: Int, limitedTo other: JSONValue) -> JSONValue {
    switch (tape[place].kind, other) {
    case (.object, .object(let others)):
      let members = members(of: place)
      return .object(
        JSONObject(
          others.compactMap { member -> JSONObject.Member? in
            members[member.key].map { (member.key, value(at: $0, limitedTo: member.value)) }
          }))
    case (.array, .array(let others)): return .array(elements(of: place, from: 0, limitedTo: others))
    default: return value(at: place)
    }
  }

  private func value(at place: Int) -> JSONValue {
    (try? JSONValue(parsing: bytes.span.extracting(tape[place].range))) ?? .null
  }

  // MARK: Places

  private mutating func place(of path: JSONValue) -> Int? {
    var place = 0
    for step in path.array ?? [] {
      let next: Int? =
        switch tape.indices.contains(place) ? tape[place].kind : .null {
        case .object: step.string.flatMap { members(of: place)[$0] }
        case .array: step.int.flatMap { index in elements(of: place).indices.contains(index) ? elements(of: place)[index] : nil }
        case .null, .scalar, .string, .escapedString: nil
        }
      guard let next else { return nil }
      place = next
    }
    return tape.indices.contains(place) ? place : nil
  }

  /// The places of the members of an object. Of members with one name, the last counts.
  private mutating func members(of object: Int) -> [String: Int] {
    if let known = members[object] { return known }
    var (places, name) = ([String: Int](), object + 1)
    while name < tape[object].next {
      places[JSONTape.string(tape[name], in: bytes.span)] = name + 1
      name = Int(tape[name + 1].next)
    }
    members[object] = places
    return places
  }

  /// The places of the elements of a list.
  private mutating func elements(of list: Int) -> [Int] {
    if let known = elements[list] { return known }
    var (places, place) = ([Int](), list + 1)
    while place < tape[list].next {
      places.append(place)
      place = Int(tape[place].next)
    }
    elements[list] = places
    return places
  }
}
