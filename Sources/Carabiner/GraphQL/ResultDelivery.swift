package import CarabinerWire
public import FoundationEssentials

/// Where a result stands in a response that comes in parts.
///
/// A class, because results travel by value and most have none.
public final class ResultDelivery: Sendable {
  /// Whether more results follow; of a subscription, whether more may.
  public let hasNext: Bool
  /// Whether what is new in the result was deferred or streamed.
  public let isIncremental: Bool
  /// Where the new belongs, as a JSON list of names and indices; nil if there is nothing new, or at several places.
  public let path: Data?
  /// The label of the `@defer` or `@stream` that brought the new; nil if it has none, or there are several.
  public let label: String?
  /// What was deferred or streamed and is new in the result; empty if that is not known.
  package let patches: [IncrementalPatch]
  /// The deferred fragments that a result from the cache lacks; empty of all other results.
  public let pending: [PendingFragment]

  /// A place among results.
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

  /// The place of a result that a part of a deferred or streamed response brought.
  convenience init(_ update: IncrementalUpdate) {
    let only = update.patches.count == 1 ? update.patches[0] : nil
    self.init(
      hasNext: update.hasNext, isIncremental: !update.patches.isEmpty, path: only.map { Data($0.path.serialized()) },
      label: only?.label, patches: update.patches)
  }
}
