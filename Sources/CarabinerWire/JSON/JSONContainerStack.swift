/// A kind of container.
enum JSONContainer {
  case array
  case object
}

/// The kinds of the open containers, one bit each, so that the scanner neither recurses nor allocates.
struct JSONContainerStack {
  private(set) var depth = 0
  private var top: UInt64 = 0
  /// Room for the bits of ``JSONLimits/highestMaximumDepth`` containers.
  private var below = InlineArray<16, UInt64>(repeating: 0)

  /// The innermost open container; meaningless at depth 0.
  var innermost: JSONContainer { top & 1 == 1 ? .object : .array }

  mutating func push(_ kind: JSONContainer) {
    if depth & 63 == 0 { below[depth >> 6] = top }
    top = top << 1 | (kind == .object ? 1 : 0)
    depth += 1
  }

  mutating func pop() {
    depth -= 1
    // The bits of these containers were shifted out by 64 inner ones, so the word is restored from its copy.
    top = depth & 63 == 0 ? below[depth >> 6] : top >> 1
  }
}
