internal import CCarabiner

/// Parsers turn the bytes of a response into results.
public enum Parser {
  /// A parser, with its first hook.
  public protocol Stage: Plugin {
    /// The parser's state for a response. Each response begins with a new one.
    associatedtype ParserState: CallState = NoState
    /// The parts that the parser reads.
    static var parser: StageParts { get }
    /// The media types it reads, in the syntax of the header Accept, such as `"application/cbor;q=0.9"`; nil for none.
    ///
    /// The host adds them to the requests of its chain, as `carabiner.h` describes.
    static var accept: StaticString? { get }
    /// Called with a response's head. `.continue` accepts the response, `.drop` passes it to the next parser.
    func onHead(_ call: Call, _ head: borrowing Head, _ state: inout ParserState) throws -> Verdict
  }

  /// For parsers that read bodies.
  public protocol OnChunk: Stage {
    /// Called with each chunk of the body.
    func onChunk(_ call: Call, _ chunk: borrowing Chunk, _ state: inout ParserState) throws -> Verdict
  }

  /// For parsers that process errors of stages closer to the network.
  public protocol OnError: Stage {
    /// Called if the body ends early. An error that this throws replaces the error.
    func onError(_ call: Call, _ error: borrowing ErrorEvent, _ state: inout ParserState) throws -> Verdict
  }

  /// For parsers that must know when the body ends.
  public protocol OnEnd: Stage {
    /// Called when the body is complete.
    func onEnd(_ call: Call, _ state: inout ParserState) throws -> Verdict
  }

  /// For parsers that must know when a call is cancelled.
  public protocol OnCancel: Stage {
    /// Wakes up waiting work and returns. Another hook of the same call may be running.
    func onCancel(_ call: Call)
  }

  /// A call in a hook of a parser.
  public struct Call: StageCall {
    public let core: CallCore

    /// The operation's name; nil for an anonymous one.
    public var operationName: String? { get throws { try text(of: .operationName) } }

    /// Stages a result, a whole GraphQL response, in `onChunk` or `onEnd`.
    public func emit(_ json: String) throws { try emit(try core.host.buffer(json.utf8)) }
    /// Stages a result of an incremental response.
    ///
    /// - Parameters:
    ///   - isIncremental: Whether the result adds to earlier ones.
    ///   - hasNext: Whether more results follow.
    public func emit(_ json: String, isIncremental: Bool, hasNext: Bool) throws {
      let flags = (isIncremental ? CRB_RESULT_INCREMENTAL : 0) | (hasNext ? CRB_RESULT_HAS_NEXT : 0)
      try stage(CRB_EMIT_RESULT, try core.host.buffer(json.utf8), flags)
    }
    /// Stages a result without a copy.
    public func emit(_ json: consuming Buffer) throws { try stage(CRB_EMIT_RESULT, json, 0) }
  }
}

extension Parser.Stage {
  public static var parser: StageParts { StageParts() }
  public static var accept: StaticString? { nil }

  func runHead(_ core: CallCore, _ head: borrowing Head, _ word: StateWord?) throws -> Verdict {
    try unsafe ParserState.made(at: word) { state in
      // After a retry the response is a new one, so the state is reset.
      state = ParserState()
      return try onHead(Parser.Call(core: core), head, &state)
    }
  }
  func releaseParserState(_ word: UnsafeMutableRawPointer) { unsafe ParserState.release(word) }
}

extension Parser.OnChunk {
  func run(_ core: CallCore, _ chunk: borrowing Chunk, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe ParserState.kept(at: word) { try onChunk(Parser.Call(core: core), chunk, &$0) }
  }
}

extension Parser.OnError {
  func run(_ core: CallCore, _ error: borrowing ErrorEvent, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe ParserState.kept(at: word) { try onError(Parser.Call(core: core), error, &$0) }
  }
}

extension Parser.OnEnd {
  func run(_ core: CallCore, _ word: UnsafeMutableRawPointer?) throws -> Verdict {
    try unsafe ParserState.kept(at: word) { try onEnd(Parser.Call(core: core), &$0) }
  }
}
