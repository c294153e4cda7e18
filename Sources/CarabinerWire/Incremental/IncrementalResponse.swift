/// Merges the parts of a response with `@defer` and `@stream`, and returns the whole response so far after each part.
///
/// It supports the format of 2022-08-24 (patches with a `path`) and the later one (patches with the `id` of a `pending` entry).
/// Merging a patch takes time in proportion to the patch and the length of its path, if the last ``MergedResponse`` is not kept. Writing
/// the response takes time in proportion to the response.
public struct IncrementalResponse: Sendable {
  /// The default limit for all parts together, 64 MiB.
  public static let defaultMaximumBytes = 64 << 20

  /// A fragment or list that was announced and is not completed.
  struct Pending: Sendable {
    let path: ResponsePath
    let label: String?
  }

  private let limits: JSONLimits
  private let maximumBytes: Int
  /// The bytes of all parts so far. The addition of a part is never larger than its text.
  private var receivedBytes = 0
  private var data: JSONValue?
  private var errors: [JSONValue] = []
  private var extensions: JSONValue?
  /// The pending fragments and lists, by id.
  private var pending: [String: Pending] = [:]
  /// Ids that are no longer pending.
  private var completed: Set<String> = []
  /// Paths and labels of deferred parts that have arrived.
  private var delivered: Set<String> = []
  private var hasBegun = false
  /// Whether more parts follow.
  public private(set) var hasNext = true

  /// Creates an empty response.
  ///
  /// - Parameter maximumBytes: The maximum size of all parts together. Parts that add nothing do not count.
  public init(limits: JSONLimits = JSONLimits(), maximumBytes: Int = Self.defaultMaximumBytes) {
    self.limits = limits
    self.maximumBytes = maximumBytes
  }

  /// Merges a part.
  ///
  /// - Returns: The result of the part; nil if it changes nothing, such as a last `{"hasNext":false}`.
  /// - Throws: ``JSONError`` if the part is not JSON, ``IncrementalError`` if it does not fit.
  public mutating func merge(_ part: [UInt8]) throws -> IncrementalUpdate? {
    let size = part.count
    // Checked before the part is parsed, because its values take more memory than its text.
    guard size <= maximumBytes - receivedBytes else {
      throw IncrementalError(
        .tooLarge,
        "the parts of the response have more than \(maximumBytes) bytes together; select fewer fields, or raise the limit maximum-body"
      )
    }
    guard let part = try JSONValue(parsing: part, limits: limits).object else {
      throw IncrementalError(
        .malformedPart, "a part of the response is not a JSON object; check that the endpoint is a GraphQL server")
    }
    if part.isHeartbeat {
      if !hasBegun, part["hasNext"]?.bool == true { return nil }
    } else {
      receivedBytes += size
    }
    return hasBegun ? try mergeLater(part) : try begin(part)
  }

  /// Ends the response.
  ///
  /// - Throws: ``IncrementalError`` with code `incomplete` if more were announced.
  public func finish() throws(IncrementalError) {
    guard hasNext else { return }
    throw IncrementalError(
      .incomplete,
      hasBegun
        ? "the server ended the response although its last part has hasNext true; the result is incomplete"
        : "the server sent no parts; check its log")
  }

  // MARK: Parts

  private mutating func begin(_ part: JSONObject) throws(IncrementalError) -> IncrementalUpdate {
    guard part.contains("data") || part.contains("errors") else {
      throw IncrementalError(.malformedPart, "the first part of the response has neither data nor errors")
    }
    hasBegun = true
    data = part["data"]
    guard data?.object != nil || data?.isNull ?? true else {
      throw IncrementalError(.malformedPart, "the data of the first part is not an object")
    }
    hasNext = part["hasNext"]?.bool ?? false
    try takeErrors(of: part)
    mergeExtensions(of: part)
    try announce(part["pending"])
    let patches = try apply(part["incremental"]) + complete(part["completed"])
    return update(patches)
  }

  private mutating func mergeLater(_ part: JSONObject) throws(IncrementalError) -> IncrementalUpdate? {
    let errorCount = errors.count
    guard hasNext || part.isHeartbeat else {
      throw IncrementalError(.afterEnd, "a part follows the one with hasNext:false; the server must not send more")
    }
    // A part of the older format may be a patch itself.
    let isPatch = part.contains("path") && !part.contains("incremental")
    try announce(part["pending"])
    var patches = try apply(isPatch ? [.object(part)] : part["incremental"])
    if !isPatch {
      try takeErrors(of: part)
      mergeExtensions(of: part)
    }
    patches += try complete(part["completed"])
    if let more = part["hasNext"]?.bool { hasNext = more }
    guard !patches.isEmpty || errors.count != errorCount || part.contains("extensions") else { return nil }
    return update(patches)
  }

  private func update(_ patches: [IncrementalPatch]) -> IncrementalUpdate {
    let response = MergedResponse(data: data, errors: errors, extensions: extensions)
    return IncrementalUpdate(response: response, patches: patches, hasNext: hasNext)
  }

  /// - Returns: The number of errors.
  @discardableResult
  private mutating func takeErrors(of object: JSONObject) throws(IncrementalError) -> Int {
    guard let value = object["errors"], !value.isNull else { return 0 }
    guard let entries = value.array else { throw IncrementalError(.malformedPart, "errors is not a list but \(value.kind)") }
    guard entries.allSatisfy({ $0.object != nil }) else {
      throw IncrementalError(.malformedPart, "errors is not a list of objects")
    }
    errors.append(contentsOf: entries)
    return entries.count
  }

  private mutating func mergeExtensions(of object: JSONObject) {
    guard let value = object["extensions"], !value.isNull else { return }
    if case .some = extensions { extensions?.merge(value) } else { extensions = value }
  }

  // MARK: Pending parts

  private mutating func announce(_ list: JSONValue?) throws(IncrementalError) {
    for entry in try Self.objects(list, "pending") {
      let id = try Self.id(of: entry)
      guard pending[id] == nil, !completed.contains(id) else {
        throw IncrementalError(.duplicate, "the id \(id) is announced as pending for the second time")
      }
      pending[id] = Pending(path: try Self.path(of: entry, "an entry of pending"), label: entry["label"]?.string)
    }
  }

  /// - Returns: An empty patch for each entry that ended with errors, as in the older format.
  private mutating func complete(_ list: JSONValue?) throws(IncrementalError) -> [IncrementalPatch] {
    var failures: [IncrementalPatch] = []
    for entry in try Self.objects(list, "completed") {
      let id = try Self.id(of: entry)
      guard let ended = pending.removeValue(forKey: id) else { throw notPending(id) }
      completed.insert(id)
      var failure = IncrementalPatch(path: ended.path, label: ended.label, content: .null)
      failure.errorCount = try takeErrors(of: entry)
      if failure.errorCount > 0 { failures.append(failure) }
    }
    return failures
  }

  private func notPending(_ id: String) -> IncrementalError {
    completed.contains(id)
      ? IncrementalError(.duplicate, "the id \(id) is used again after it was completed")
      : IncrementalError(.unknownID, "the id \(id) was never announced as pending")
  }

  // MARK: Patches

  private mutating func apply(_ list: JSONValue?) throws(IncrementalError) -> [IncrementalPatch] {
    var patches: [IncrementalPatch] = []
    for entry in try Self.objects(list, "incremental") {
      var patch = entry["id"]?.isNull == false ? try applyByID(entry) : try applyByPath(entry)
      patch.errorCount = try takeErrors(of: entry)
      patches.append(patch)
      mergeExtensions(of: entry)
    }
    return patches
  }

  /// Applies a patch of the later format.
  private mutating func applyByID(_ entry: JSONObject) throws(IncrementalError) -> IncrementalPatch {
    let id = try Self.id(of: entry)
    guard let target = pending[id] else { throw notPending(id) }
    let path = target.path.appending(try ResponsePath(entry["subPath"]))
    var content = IncrementalPatch.Content.null
    if let items = entry["items"] {
      if let items = try Self.list(items) {
        content = .items(items, list: path.json, from: try append(items, to: path, from: nil))
      }
    } else if let value = entry["data"] {
      if try mergeObject(value, at: path) { content = .data(value) }
    } else {
      throw Self.isNoPatch
    }
    return IncrementalPatch(path: path, label: target.label, content: content)
  }

  /// Applies a patch of the format of 2022-08-24.
  private mutating func applyByPath(_ entry: JSONObject) throws(IncrementalError) -> IncrementalPatch {
    let path = try Self.path(of: entry, "an entry of incremental")
    let label = entry["label"]?.string
    var content = IncrementalPatch.Content.null
    if let items = entry["items"] {
      // Null items mean that the rest of the list failed; the errors are in the entry.
      if let items = try Self.list(items) {
        guard let (list, index) = path.element else {
          throw IncrementalError(.malformedPart, "a patch with items has the path \(path), which does not end with an index")
        }
        content = .items(items, list: list.json, from: try append(items, to: list, from: index))
      }
    } else if let value = entry["data"] {
      // Without a label, two fragments at one path cannot be distinguished from one that arrives twice.
      if let label, !delivered.insert("\(label)\u{0}\(path)").inserted {
        throw IncrementalError(.duplicate, "the patch \(label.debugDescription) for \(path) came twice")
      }
      if try mergeObject(value, at: path) { content = .data(value) }
    } else {
      throw Self.isNoPatch
    }
    return IncrementalPatch(path: path, label: label, content: content)
  }

  /// - Returns: Whether the data was not null.
  private mutating func mergeObject(_ value: JSONValue, at path: ResponsePath) throws(IncrementalError) -> Bool {
    // Null data means that the fragment failed; the errors are in the entry.
    guard !value.isNull else { return false }
    guard case .object = value else {
      throw IncrementalError(.malformedPart, "the data of a patch is not an object but \(value.kind)")
    }
    let isMerged = data?.change(at: path.steps[...]) { target in
      guard case .object = target else { return false }
      target.merge(value)
      return true
    }
    guard isMerged == true else {
      throw IncrementalError(.unknownPath, "the response has no object at \(path) for a patch")
    }
    return true
  }

  /// - Returns: The index of the first item.
  private mutating func append(
    _ items: [JSONValue], to path: ResponsePath, from index: Int?
  ) throws(IncrementalError) -> Int {
    let count = data?.change(at: path.steps[...]) { (target: inout JSONValue) -> Int in
      guard case .array(var array) = target else { return -1 }
      let count = array.count
      guard index == nil || index == count else { return count }
      target = .null
      array.append(contentsOf: items)
      target = .array(array)
      return count
    }
    guard let count, count >= 0 else {
      throw IncrementalError(.unknownPath, "the response has no list at \(path) for the items of a patch")
    }
    guard let index, index != count else { return count }
    throw index < count
      ? IncrementalError(.duplicate, "items for \(path) came twice: from index \(index), where the list has \(count)")
      : IncrementalError(.unknownPath, "items for \(path) begin at index \(index), but the list has only \(count)")
  }

  // MARK: Reading

  private static let isNoPatch = IncrementalError(.malformedPart, "a patch has neither data nor items")

  private static func objects(_ list: JSONValue?, _ name: String) throws(IncrementalError) -> [JSONObject] {
    guard let list, !list.isNull else { return [] }
    let objects = list.array?.compactMap(\.object)
    guard let objects, objects.count == list.array?.count else {
      throw IncrementalError(.malformedPart, "\(name) is not a list of objects")
    }
    return objects
  }

  private static func list(_ value: JSONValue) throws(IncrementalError) -> [JSONValue]? {
    if value.isNull { return nil }
    guard let list = value.array else {
      throw IncrementalError(.malformedPart, "the items of a patch are not a list but \(value.kind)")
    }
    return list
  }

  /// The path of an entry. It is required: without it, the entry would be merged into the root.
  private static func path(of entry: JSONObject, _ what: String) throws(IncrementalError) -> ResponsePath {
    guard let path = entry["path"], !path.isNull else {
      throw IncrementalError(.malformedPart, "\(what) has no path; the server must send the path")
    }
    return try ResponsePath(path)
  }

  /// The id of an entry. Some servers write it as a number.
  private static func id(of entry: JSONObject) throws(IncrementalError) -> String {
    guard let id = entry["id"], let text = id.string ?? id.number?.lexeme else {
      throw IncrementalError(.malformedPart, "an entry of pending, incremental or completed has no id")
    }
    return text
  }
}

extension JSONObject {
  /// Whether this part adds nothing: it has only `hasNext` and empty lists. Such a part may come at any time, and is not counted.
  fileprivate var isHeartbeat: Bool { allSatisfy { $0.key == "hasNext" || $0.value.array?.isEmpty == true } }
}
