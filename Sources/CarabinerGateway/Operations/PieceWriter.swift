internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials

/// Writes results as the parts of a body, or as server-sent events.
struct PieceWriter: Sendable {
  typealias Response = GraphQLResponse<DynamicOperation>

  private let pieces: ResponseShape.Pieces
  private let multipart: MultipartWriter

  init(_ pieces: ResponseShape.Pieces) {
    self.pieces = pieces
    multipart = MultipartWriter(specification: pieces == .multipartSubscription ? "subscriptionSpec=1.0" : "deferSpec=20220824")
  }

  var contentType: String { pieces == .events ? "text/event-stream" : multipart.contentType }
  var opening: [UInt8] { pieces == .events ? [] : multipart.opening }
  var closing: [UInt8] { pieces == .events ? Array("event: complete\ndata:\n\n".utf8) : multipart.closing }

  /// A result.
  func piece(_ response: Response, isFirst: Bool, isLast: Bool) -> [UInt8] {
    switch pieces {
    case .events: event(Array(response.body.bytes))
    case .multipartSubscription: multipart.part("{\"payload\":".utf8 + Array(response.body.bytes) + "}".utf8)
    case .multipartDeferred: multipart.part(deferred(response, isFirst: isFirst, hasNext: response.hasNext && !isLast))
    }
  }

  /// What went wrong after results were out.
  func failure(_ json: [UInt8]) -> [UInt8] {
    switch pieces {
    case .events: event(json)
    case .multipartSubscription:
      multipart.part("{\"payload\":null,".utf8 + json.dropFirst())
    case .multipartDeferred: multipart.part(json.dropLast() + ",\"hasNext\":false}".utf8)
    }
  }

  private func event(_ json: [UInt8]) -> [UInt8] {
    // An event's data ends with its line; JSON has line breaks only between its values.
    var line = Array("event: next\ndata: ".utf8)
    line.append(contentsOf: json.lazy.filter { $0 != 0x0A && $0 != 0x0D })
    return line + "\n\n".utf8
  }

  /// The chain puts parts together; what is new is taken out of the whole again, by the place it came with.
  private func deferred(_ response: Response, isFirst: Bool, hasNext: Bool) -> [UInt8] {
    let ending = Array(",\"hasNext\":\(hasNext)}".utf8)
    let body = Array(response.body.bytes)
    guard !isFirst else { return body.dropLast(while: { $0 != UInt8(ascii: "}") }).dropLast() + ending }
    guard response.delivery?.isIncremental ?? true else { return Array("{\"hasNext\":\(hasNext)}".utf8) }
    let whole = (try? JSONValue(parsing: body)) ?? .object([:])
    let path = response.delivery?.path.flatMap { try? JSONValue(parsing: [UInt8]($0)) } ?? .array([])
    var patch: JSONObject = ["path": path]
    let data = whole.object?["data"] ?? .null
    patch["data"] = data.at(path) ?? data
    if data.at(path) == nil { patch["path"] = .array([]) }
    if let label = response.delivery?.label { patch["label"] = .string(label) }
    if let errors = whole.object?["errors"] { patch["errors"] = errors }
    return Array("{\"incremental\":[".utf8) + JSONValue.object(patch).serialized() + "]".utf8 + ending
  }
}

extension JSONValue {
  /// The object at a path of names and indices; nil if there is none.
  fileprivate func at(_ path: JSONValue) -> JSONValue? {
    guard case .array(let steps) = path else { return nil }
    var value = self
    for step in steps {
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
    guard case .object = value else { return nil }
    return value
  }
}

extension Array {
  fileprivate func dropLast(while predicate: (Element) -> Bool) -> ArraySlice<Element> {
    var end = endIndex
    while end > startIndex, predicate(self[end - 1]) { end -= 1 }
    return self[..<end]
  }
}
