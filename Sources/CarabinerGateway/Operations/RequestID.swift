internal import Carabiner
internal import CarabinerTracing
internal import Synchronization

/// The ID of a request in logs and in the response. It is passed to the upstream if the manifest allows that.
package enum RequestID {
  /// The header field of the ID, in requests and responses.
  package static let field = "X-Request-Id"
  /// The maximum length of a client's ID, in bytes.
  static let maximumLength = 128

  private static let start = UInt64.random(in: .min ... .max)
  private static let count = Atomic<UInt64>(0)

  /// Returns the client's ID, if it is well-formed; else the trace ID of the request; else a new one.
  static func of(_ headers: HTTPHeaders) -> String {
    if let own = headers[field], isWellFormed(own) { return own }
    if let trace = headers[TraceParent.fieldName].flatMap(TraceParent.init) { return "\(trace.traceID)" }
    return new()
  }

  /// Returns 32 hex digits, as in a trace ID. IDs of one process are unique.
  static func new() -> String {
    // SplitMix64 is a bijection, so IDs stay unique, and consecutive numbers look unrelated.
    var mixed = start &+ count.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return UInt64.hexadecimal(start, mixed)
  }

  /// Whether the text can be used in a log, a header and a query without quoting.
  static func isWellFormed(_ text: String) -> Bool {
    (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { isAlphanumeric($0) || "-_.:/+=@~,".utf8.contains($0) }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
