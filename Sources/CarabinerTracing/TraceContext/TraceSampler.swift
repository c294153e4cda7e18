/// Decides once for each trace whether it is recorded.
package struct TraceSampler: Sendable, Hashable {
  /// Whether the decision of the client is used for a trace that started there. If false, all traces are sampled here.
  package var followsParent: Bool
  /// The share of traces that are recorded if they start here, from 0 to 1.
  package var share: Double

  /// Creates a sampler.
  package init(followsParent: Bool = true, share: Double = 0) {
    self.followsParent = followsParent
    self.share = share
  }

  /// The context of a request with `parent`; nil if it is not recorded.
  ///
  /// - Parameter state: The `tracestate`. It is evaluated only if the trace is recorded.
  package func context(of parent: TraceParent?, state: () -> TraceState?) -> TraceContext? {
    if let parent {
      guard followsParent ? parent.isSampled : includes(parent.traceID) else { return nil }
      var context = TraceContext(parent, state: state())
      context.isSampled = true
      return context
    }
    guard share > 0 else { return nil }
    let traceID = TraceID.random()
    guard includes(traceID) else { return nil }
    return TraceContext(traceID: traceID, spanID: nil, isSampled: true, isRemote: false)
  }

  /// Whether a trace is in the share. The decision depends only on the id, so processes with the same share decide alike.
  package func includes(_ traceID: TraceID) -> Bool {
    if share >= 1 { return true }
    if share <= 0 { return false }
    return Double(traceID.low >> 11) < share * 0x1p53
  }
}
