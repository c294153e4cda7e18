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
    var part = (try? JSONValue(parsing: Array(response.body.bytes)))?.object ?? [:]
    let errors = part["errors"]?.array ?? []
    let new = part["extensions"] == extensions ? nil : part["extensions"]
    if isFirst {
      isFirst = false
    } else {
      let patches = patches(of: response, part["data"] ?? .null, errors.dropFirst(errorCount))
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

  private func patches(of response: Response, _ data: JSONValue, _ errors: ArraySlice<JSONValue>) -> [JSONObject] {
    let known = response.delivery?.patches ?? []
    var errors = errors
    var patches = known.map { patch in
      var object = patch.object(in: data)
      if let label = patch.label { object["label"] = .string(label) }
      let own = errors.prefix(patch.errorCount)
      errors = errors.dropFirst(own.count)
      if !own.isEmpty { object["errors"] = .array(Array(own)) }
      return object
    }
    // A plugin produced the result, so the new part of it is unknown. All data is sent.
    if patches.isEmpty { patches = [["data": data, "path": []]] }
    if !errors.isEmpty {
      let last = patches.count - 1
      patches[last]["errors"] = .array((patches[last]["errors"]?.array ?? []) + errors)
    }
    return patches
  }
}

extension IncrementalPatch {
  /// The entry of `incremental` for this patch, with its data as it is in the merged result.
  fileprivate func object(in data: JSONValue) -> JSONObject {
    switch content {
    case .data(let added): ["data": data.at(path)?.limited(to: added) ?? .null, "path": path]
    case .items(let items, let list, let start):
      ["items": .array(data.at(list)?.elements(from: start, like: items) ?? []), "path": list.appending(start)]
    case .null: ["data": .null, "path": path]
    }
  }
}

extension JSONValue {
  /// The value at a path of names and indices; nil if there is none.
  fileprivate func at(_ path: JSONValue) -> JSONValue? {
    var value = self
    for step in path.array ?? [] {
      switch value {
      case .object(let object):
        guard let name = step.string, let next = object[name] else { return nil }
        value = next
      case .array(let list):
        guard let index = step.int, list.indices.contains(index) else { return nil }
        value = list[index]
      default: return nil
      }
    }
    return value
  }

  fileprivate func appending(_ index: Int) -> JSONValue { .array((array ?? []) + [.number(JSONNumber(index))]) }

  /// The elements from `start` on, limited to the members that `items` have.
  fileprivate func elements(from start: Int, like items: [JSONValue]) -> [JSONValue] {
    zip((array ?? []).dropFirst(start), items).map { $0.limited(to: $1) }
  }

  /// The members and elements that the other value also has.
  fileprivate func limited(to other: JSONValue) -> JSONValue {
    switch (self, other) {
    case (.object(let object), .object(let others)):
      .object(
        JSONObject(
          others.lazy.compactMap { member -> JSONObject.Member? in
            object[member.key].map { (member.key, $0.limited(to: member.value)) }
          }))
    case (.array, .array(let others)): .array(elements(from: 0, like: others))
    default: self
    }
  }
}
