internal import CarabinerPlugin
internal import Synchronization

/// Keeps the last results of queries in memory and answers the same query with the same result.
///
/// A cache is asked in `onRead`, before anything is sent, and told in `onWrite`, after a server answered. It keeps few results and keeps
/// them for ever: a limit of age or of bytes is what you may want to add. One instance for each entry in a manifest; hooks of different
/// calls run at once, on the host's threads, so what they share is behind a lock. What a hook throws fails its call.
final class Interceptor: Cache.Stage, Cache.OnWrite {
  // The same as in the note, Sources/Note/note.c.
  static let identity = PluginIdentity(id: "org.example.my-plugin", version: "1.0.0")
  // What is not needed cannot be read.
  static let cache = StageParts(needs: [.operationName, .document, .variables, .json, .errors])

  private static let maximumEntries = 32
  private static let maximumBytes = 1 << 20

  /// What tells one operation from another.
  private struct Key: Hashable {
    let name: String?
    let document: String?
    let variables: String?

    init(_ call: Cache.Call) throws {
      name = try call.operationName
      document = try call.document
      variables = try call.variables
    }
  }

  private struct Entry {
    let key: Key
    let json: String
  }

  private let entries = Mutex<[Entry]>([])

  init(configuration: PluginConfiguration, host: PluginHost) {}

  /// `.respond` is a hit; `.continue` asks the next cache, or the server. Nothing is kept of a call; `NoState` costs nothing.
  func onRead(_ call: Cache.Call, _ state: inout NoState) throws -> Verdict {
    let key = try Key(call)
    guard let found = entries.withLock({ $0.first { $0.key == key } }) else { return .continue }
    call.log(.info, "answered from memory")
    return try call.respond(found.json)
  }

  /// A result came. Only what will be as good the next time is kept: whole results of queries, without errors.
  func onWrite(_ call: Cache.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict {
    let isWhole = !result.hasNext && !result.isIncremental && !result.isSynthetic
    guard call.operationType == .query, isWhole, !result.hasErrors, let json = result.json, json.utf8.count <= Self.maximumBytes
    else { return .continue }
    let made = Entry(key: try Key(call), json: json)
    entries.withLock { entries in
      entries.removeAll { $0.key == made.key }
      entries.append(made)
      if entries.count > Self.maximumEntries { entries.removeFirst() }  // the oldest goes
    }
    return .continue
  }
}
