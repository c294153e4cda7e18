internal import CarabinerPlugin
internal import Synchronization

/// Keeps the last results of queries in memory and answers the same query with the same result.
///
/// The host calls `onRead` before it sends a request, and `onWrite` after the server answered. The cache keeps few results, but without
/// a time limit; you may want to add a maximum age or a limit in bytes. There is one instance per manifest entry. Hooks of different
/// calls run at the same time on the host's threads, so a lock protects their shared data. An error in a hook fails its call.
final class Interceptor: Cache.Stage, Cache.OnWrite {
  // It must match the note in Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // Hooks can read only the parts named here.
  static let cache = StageParts(needs: [.operationName, .document, .variables, .headers, .json, .errors])

  private static let maximumEntries = 32
  private static let maximumBytes = 1 << 20

  /// The parts that identify an operation, and its caller.
  private struct Key: Hashable {
    let name: String?
    let document: String?
    let variables: String?
    let authorization: String?

    init(_ call: Cache.Call) throws {
      name = try call.operationName
      document = try call.document
      variables = try call.variables
      authorization = try call.header("authorization")
    }
  }

  private struct Entry {
    let key: Key
    let json: String
  }

  private let entries = Mutex<[Entry]>([])

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// `.respond` is a hit. `.continue` passes the read to the next cache, or to the server. `NoState`: the stage has no state per call.
  func onRead(_ call: Cache.Call, _ state: inout NoState) throws -> Verdict {
    let key = try Key(call)
    guard let found = entries.withLock({ $0.first { $0.key == key } }) else { return .continue }
    call.log(.info, "answered from memory")
    return try call.respond(found.json)
  }

  /// A result arrived. Only complete results of queries without errors are kept.
  func onWrite(_ call: Cache.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict {
    let isWhole = !result.hasNext && !result.isIncremental && !result.isSynthetic
    guard call.operationType == .query, isWhole, !result.hasErrors, let json = result.json, json.utf8.count <= Self.maximumBytes
    else { return .continue }
    let made = Entry(key: try Key(call), json: json)
    entries.withLock { entries in
      entries.removeAll { $0.key == made.key }
      entries.append(made)
      if entries.count > Self.maximumEntries { entries.removeFirst() }  // remove the oldest
    }
    return .continue
  }
}
