internal import CCarabiner

/// Cache stages provide stored results and receive new ones.
public enum Cache {
  /// A cache stage, with its first hook.
  public protocol Stage: Plugin {
    /// The stage's state between the hooks of a call.
    associatedtype CacheState: CallState = NoState
    /// The parts that the stage reads.
    static var cache: StageParts { get }
    /// Looks up a result. `.respond` is a hit; `.continue` passes the call to the next cache.
    func onRead(_ call: Call, _ state: inout CacheState) throws -> Verdict
  }

  /// For caches that store the results of servers.
  public protocol OnWrite: Stage {
    /// Called with a result from a server. `.drop` does not pass it to the caches after this one.
    func onWrite(_ call: Call, _ result: borrowing ResultEvent, _ state: inout CacheState) throws -> Verdict
  }

  /// For caches that must know when a call is cancelled.
  public protocol OnCancel: Stage {
    /// Wakes up waiting work and returns. Another hook of the same call may be running.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of a cache stage.
  public struct Call: StageCall {
    public let core: CallCore

    /// The operation's name; nil for an anonymous one.
    public var operationName: String? { get throws { try text(of: .operationName) } }
    /// The GraphQL document.
    public var document: String? { get throws { try text(of: .document) } }
    /// The variables, a JSON object.
    public var variables: String? { get throws { try text(of: .variables) } }
    /// The extensions, a JSON object.
    public var extensions: String? { get throws { try text(of: .extensions) } }

    /// In `onRead`: responds with a cached result. `return try call.respond(json)`
    public func respond(_ json: String) throws -> Verdict {
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), CRB_RESULT_CACHE)
      return .respond
    }
  }
}

extension Cache.Stage {
  public static var cache: StageParts { StageParts() }

  func runRead(_ core: CallCore, _ word: StateWord?) throws -> Verdict {
    try unsafe CacheState.made(at: word) { try onRead(Cache.Call(core: core), &$0) }
  }
  func releaseCacheState(_ word: UnsafeMutableRawPointer) { unsafe CacheState.release(word) }
}

extension Cache.OnWrite {
  func run(_ core: CallCore, _ result: borrowing ResultEvent, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe CacheState.kept(at: word) { try onWrite(Cache.Call(core: core), result, &$0) }
  }
}
