/// Keys of etcd: one, all from one to before another, or all that begin with a text.
package enum EtcdKeys: Sendable, Hashable {
  case one(String)
  case range(String, before: String)
  case all(prefix: String)

  /// The key, or the first one.
  var start: [UInt8] {
    switch self {
    case .one(let text), .range(let text, _), .all(let text):
      // An empty key is refused. The first key of all is one zero byte.
      text.isEmpty ? [0] : Array(text.utf8)
    }
  }

  /// The first key after them; nil for one key. One zero byte means that there is none.
  var end: [UInt8]? {
    var bytes: [UInt8]
    switch self {
    case .one: return nil
    case .range(_, let end): return Array(end.utf8)
    case .all(let prefix): bytes = Array(prefix.utf8)
    }
    while let last = bytes.popLast() {
      if last < 0xFF { return bytes + [last + 1] }
    }
    return [0]
  }
}
