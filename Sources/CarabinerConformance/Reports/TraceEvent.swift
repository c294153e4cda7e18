internal import CLaboratory

/// An event in the trace of a child.
struct TraceEvent: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case begin, end, use
  }

  let kind: Kind
  /// CLOCK_MONOTONIC.
  let nanoseconds: UInt64
  let thread: UInt32
  let text: String
}

extension FlightRecord {
  /// The last events, in order. Untrusted code could write there, so invalid events are left out, and texts are stripped.
  var events: [TraceEvent] {
    let count = unsafe CLaboratory_eventCount(record)
    let kept = UInt64(CLABORATORY_EVENTS)
    let first = count > kept ? count - kept : 0
    return (0..<min(count, kept)).compactMap { index in unsafe Self.event(CLaboratory_eventAt(record, first &+ index)) }
  }

  private static func event(_ event: CLaboratory_event) -> TraceEvent? {
    let kind: TraceEvent.Kind? =
      switch Int(event.kind) {
      case Int(CLABORATORY_BEGIN): .begin
      case Int(CLABORATORY_END): .end
      case Int(CLABORATORY_USE): .use
      default: nil
      }
    guard let kind else { return nil }
    let text = unsafe withUnsafeBytes(of: event.text) { unsafe stripped($0) }
    return TraceEvent(kind: kind, nanoseconds: event.ns, thread: event.thread, text: text)
  }
}
