public import CCarabiner

/// The permissions of each hook, as in sections 4 and 5 of `carabiner.h`.
///
/// The host's bridge and the harness's test host both use this. A test compares it with the matrices of the header.
public enum Contract {
  /// The access of a hook to a part of the message.
  public struct Rights: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// With `field_get`, or `headers` and `header_get`.
    public static var read: Rights { Rights(rawValue: 1) }
    /// With `field_set`, or `header_set`.
    public static var write: Rights { Rights(rawValue: 2) }
    /// The part is in the event, or is created by `emit`.
    public static var event: Rights { Rights(rawValue: 4) }
  }

  /// The message whose headers a hook sees.
  public enum HeaderSource: Sendable {
    case request
    case response
  }

  // MARK: Section 4: access of hooks to parts

  private typealias Column = (kind: StageKind, hooks: [Hook])

  private static let columns: [Column] = [
    (.graphQL, [.onRequest]), (.graphQL, [.onResult, .onError, .onEnd]), (.cache, [.onRead, .onWrite]),
    (.http, [.onRequest]), (.http, [.onHead]), (.http, [.onChunk, .onEnd]), (.http, [.onError]),
    (.parsing, [.onHead, .onChunk, .onEnd, .onError]),
  ]

  private static let none: Rights = []
  private static let both: Rights = [.read, .write]

  /// The rows of the header's table: the rights to the parts in each of the columns above.
  private static let rows: [(parts: Parts, rights: [Rights])] = [
    ([.headers], [both, .read, .read, both, both, .read, .read, .read]),
    ([.body, .url, .method], [none, none, none, both, .read, .read, .read, none]),
    ([.document, .variables, .extensions], [both, .read, .read, none, none, none, none, none]),
    ([.operationName], [.read, .read, .read, none, none, none, none, .read]),
    ([.json, .data, .errors], [none, .event, .event, none, none, none, none, .event]),
    ([.chunk], [none, none, none, none, none, .event, none, .event]),
  ]

  /// The number of parts.
  private static let partCount = 12

  /// The rights by kind, hook and part, so that a look-up is one load.
  private static let rights: [Rights] = {
    var rights = Array(repeating: none, count: StageKind.allCases.count * Hook.allCases.count * partCount)
    for (parts, cells) in rows {
      for (column, cell) in zip(columns, cells) {
        for hook in column.hooks {
          for part in 0..<partCount where parts.contains(Parts(rawValue: 1 << UInt32(part))) {
            rights[place(hook, column.kind) * partCount + part] = cell
          }
        }
      }
    }
    return rights
  }()

  private static func place(_ hook: Hook, _ kind: StageKind) -> Int { kind.number * Hook.allCases.count + Int(hook.rawValue) }

  /// The access of a hook to one part.
  public static func rights(_ part: Parts, in hook: Hook, of kind: StageKind) -> Rights {
    guard part.rawValue.nonzeroBitCount == 1, part.rawValue.trailingZeroBitCount < partCount else { return none }
    return rights[place(hook, kind) * partCount + part.rawValue.trailingZeroBitCount]
  }

  /// The message whose headers a hook sees. The headers of a response are available once its head has arrived.
  public static func headerSource(in hook: Hook, of kind: StageKind) -> HeaderSource {
    switch kind {
    case .graphQL, .cache: .request
    case .http: hook == .onRequest || hook == .onError ? .request : .response
    case .parsing: .response
    }
  }

  /// Whether a hook may emit results (if `results` is true) or chunks.
  public static func emits(results: Bool, in hook: Hook, of kind: StageKind) -> Bool {
    switch kind {
    case .graphQL: results && [.onRequest, .onResult, .onError, .onEnd].contains(hook)
    case .cache: results && hook == .onRead
    case .http: !results && [.onRequest, .onChunk, .onEnd].contains(hook)
    case .parsing: results && [.onHead, .onChunk, .onError, .onEnd].contains(hook)
    }
  }

  /// The part that a hook replaces when it emits, and that must be declared in `mutates`; nil if it replaces nothing.
  public static func replaced(in hook: Hook, of kind: StageKind) -> Parts? {
    switch (kind, hook) {
    case (.graphQL, .onResult): .json
    case (.http, .onChunk): .chunk
    default: nil
    }
  }

  /// Whether a hook may set a response's head.
  public static func setsHead(in hook: Hook, of kind: StageKind) -> Bool {
    kind == .http && (hook == .onRequest || hook == .onHead)
  }

  // MARK: Section 5: verdicts of hooks

  /// The verdicts a hook may return.
  private static func verdicts(_ hook: Hook, _ kind: StageKind) -> [crb_verdict] {
    let always = [Verdict.continue, Verdict.pending, Verdict.fail]
    return switch (kind, hook) {
    case (.graphQL, .onRequest), (.http, .onRequest): always + [Verdict.respond, Verdict.retry]
    case (.graphQL, .onResult): always + [Verdict.drop, Verdict.finish, Verdict.retry]
    case (.http, .onHead): always + [Verdict.retry]
    case (.http, .onChunk): always + [Verdict.drop, Verdict.finish]
    case (.cache, .onRead): always + [Verdict.respond]
    case (.cache, .onWrite): always + [Verdict.drop]
    case (.parsing, .onHead): always + [Verdict.drop]
    case (.parsing, .onChunk): always + [Verdict.finish]
    case (.graphQL, .onError): always + [Verdict.drop, Verdict.retry, Verdict.recover]
    case (.http, .onError): always + [Verdict.retry]
    default: always
    }
  }

  private static let allowed: [UInt8] = {
    var allowed = [UInt8](repeating: 0, count: StageKind.allCases.count * Hook.allCases.count)
    for kind in StageKind.allCases {
      for hook in Hook.allCases {
        for verdict in verdicts(hook, kind) { allowed[place(hook, kind)] |= 1 << UInt8(verdict) }
      }
    }
    return allowed
  }()

  /// Whether a hook may return a verdict.
  public static func allows(_ verdict: crb_verdict, from hook: Hook, of kind: StageKind) -> Bool {
    (0..<8).contains(verdict) && allowed[place(hook, kind)] & 1 << UInt8(verdict) != 0
  }
}

extension StageKind {
  fileprivate var number: Int {
    switch self {
    case .graphQL: 0
    case .http: 1
    case .cache: 2
    case .parsing: 3
    }
  }
}
