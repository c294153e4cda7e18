internal import CarabinerWire

/// Writes patches for clients of `incrementalSpec=v0.2`, which refer to the ids of `pending` entries instead of paths.
///
/// A fragment is announced together with its data and completed at once. A streamed list stays pending until the last part, because it
/// may get more items.
struct PendingPatches: Sendable {
  private var lastID = 0
  /// The lists that are pending.
  private var lists: [(path: JSONValue, label: JSONValue?, id: String)] = []

  /// A part with these patches, each an entry of `incremental` in the format of 2022-08-24.
  mutating func part(_ patches: [JSONObject]) -> JSONObject {
    var (pending, incremental, completed): ([JSONValue], [JSONValue], [JSONValue]) = ([], [], [])
    for patch in patches {
      let (label, errors) = (patch["label"], patch["errors"])
      // A literal nil in a closure would be JSON null.
      let items = patch["items"].flatMap { $0.isNull ? Optional.none : $0 }
      let data = patch["data"].flatMap { $0.isNull ? Optional.none : $0 }
      let path = items == nil ? patch["path"] ?? [] : .array((patch["path"]?.array ?? []).dropLast())
      let known = lists.firstIndex { $0.path == path && $0.label == label }
      let id = known.map { lists[$0].id } ?? announce(path, label, in: &pending)
      if let items {
        if known == nil { lists.append((path, label, id)) }
        incremental.append(Self.entry(id, ["items": items, "errors": errors]))
      } else {
        if let data { incremental.append(Self.entry(id, ["data": data, "errors": errors])) }
        completed.append(Self.entry(id, ["errors": data == nil ? errors : nil]))
        if let known { lists.remove(at: known) }
      }
    }
    var part: JSONObject = [:]
    if !pending.isEmpty { part["pending"] = .array(pending) }
    if !incremental.isEmpty { part["incremental"] = .array(incremental) }
    if !completed.isEmpty { part["completed"] = .array(completed) }
    return part
  }

  /// Adds the completion of all pending lists to the last part.
  mutating func complete(_ part: inout JSONObject) {
    guard !lists.isEmpty else { return }
    part["completed"] = .array((part["completed"]?.array ?? []) + lists.map { Self.entry($0.id, [:]) })
    lists = []
  }

  private mutating func announce(_ path: JSONValue, _ label: JSONValue?, in pending: inout [JSONValue]) -> String {
    let id = String(lastID)
    lastID += 1
    pending.append(Self.entry(id, ["path": path, "label": label]))
    return id
  }

  private static func entry(_ id: String, _ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    var entry: JSONObject = ["id": .string(id)]
    for (name, value) in members { if let value { entry[name] = value } }
    return .object(entry)
  }
}
