/// Decides which traces are recorded, once for each of them.
package struct TraceSampler: Sendable, Hashable {
  /// Whether a trace that began elsewhere is recorded if it is recorded there; otherwise all are decided on as if they began here.
  package var followsParent: Bool
  /// Which share of the traces that begin here is recorded, 0 to 1.
  package var share: Double

  /// A sampler of these settings.
  package init(followsParent: Bool = true, share: Double = 0) {
    self.followsParent = followsParent
    self.share = share
  }

  /// Where a request that came with `parent` goes on; nil if it is not recorded.
  ///
  /// - Parameter state: Is asked only if it is recorded.
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

  /// Whether a trace falls into the share: told by its id alone, so that all who know the id and have the same share decide alike.
  package func includes(_ traceID: TraceID) -> Bool {
    if share >= 1 { return true }
    if share <= 0 { return false }
    return Double(traceID.low >> 11) < share * 0x1p53
  }
}
