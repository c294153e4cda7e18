package import CarabinerWire
public import FoundationEssentials

/// The position of a result in a response that arrives in parts.
///
/// A class, because results travel by value and most have none.
public final class ResultDelivery: Sendable {
  /// Whether more results follow. For a subscription, whether more may follow.
  public let hasNext: Bool
  /// Whether the new part of the result was deferred or streamed.
  public let isIncremental: Bool
  /// The path of the new part, as a JSON list of names and indices; nil if there is no new part, or more than one.
  public let path: Data?
  /// The label of the `@defer` or `@stream` of the new part; nil if it has none, or if there is more than one part.
  public let label: String?
  /// The deferred or streamed parts that are new in the result; empty if they are not known.
  package let patches: [IncrementalPatch]
  /// The deferred fragments that a result from the cache lacks; empty of all other results.
  public let pending: [PendingFragment]

  /// A position.
  public convenience init(
    hasNext: Bool, isIncremental: Bool = false, path: Data? = nil, label: String? = nil, pending: [PendingFragment] = []
  ) {
    self.init(hasNext: hasNext, isIncremental: isIncremental, path: path, label: label, patches: [], pending: pending)
  }

  private init(
    hasNext: Bool, isIncremental: Bool, path: Data?, label: String?, patches: [IncrementalPatch], pending: [PendingFragment] = []
  ) {
    self.pending = pending
    self.hasNext = hasNext
    self.isIncremental = isIncremental
    self.path = path
    self.label = label
    self.patches = patches
  }

  /// The position of the result of a deferred or streamed part.
  convenience init(_ update: IncrementalUpdate) {
    let only = update.patches.count == 1 ? update.patches[0] : nil
    self.init(
      hasNext: update.hasNext, isIncremental: !update.patches.isEmpty, path: only.map { Data($0.path.serialized()) },
      label: only?.label, patches: update.patches)
  }
}
