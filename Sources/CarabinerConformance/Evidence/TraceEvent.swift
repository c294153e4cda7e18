internal import CTestHost

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

extension ChildStatusRecord {
  /// The last events, in order. Untrusted code could write there, so invalid events are left out, and control characters are escaped.
  var events: [TraceEvent] {
    let count = unsafe CTestHost_eventCount(record)
    let kept = UInt64(CTESTHOST_EVENTS)
    let first = count > kept ? count - kept : 0
    return (0..<min(count, kept)).compactMap { index in unsafe Self.event(CTestHost_eventAt(record, first &+ index)) }
  }

  private static func event(_ event: CTestHost_event) -> TraceEvent? {
    let kind: TraceEvent.Kind? =
      switch Int(event.kind) {
      case Int(CTESTHOST_BEGIN): .begin
      case Int(CTESTHOST_END): .end
      case Int(CTESTHOST_USE): .use
      default: nil
      }
    guard let kind else { return nil }
    let text = unsafe withUnsafeBytes(of: event.text) { unsafe Self.text(in: $0) }
    return TraceEvent(kind: kind, nanoseconds: event.ns, thread: event.thread, text: text)
  }
}
