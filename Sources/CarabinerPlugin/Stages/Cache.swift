internal import CCarabiner

/// Cache stages are asked for results and told of them.
public enum Cache {
  /// A cache stage, with its first hook.
  public protocol Stage: Plugin {
    /// What the stage keeps of a call between its hooks.
    associatedtype CacheState: CallState = NoState
    /// What the stage reads.
    static var cache: StageParts { get }
    /// `.respond` is a hit; `.continue` asks the next cache.
    func onRead(_ call: Call, _ state: inout CacheState) throws -> Verdict
  }

  /// For caches that keep what servers answer.
  public protocol OnWrite: Stage {
    /// A result came from a server. `.drop` keeps it from the caches behind this one.
    func onWrite(_ call: Call, _ result: borrowing ResultEvent, _ state: inout CacheState) throws -> Verdict
  }

  /// For caches that want to know of a call's cancellation.
  public protocol OnCancel: Stage {
    /// Wake whoever waits and return. Another hook of the same call may be under way.
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

    /// In `onRead`: a hit. `return try call.respond(json)`
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
