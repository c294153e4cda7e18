internal import CCarabiner

/// The staged effects of a hook, which its verdict applies.
struct Staged: Sendable {
  /// An element of emit().
  struct Element: Sendable, Hashable {
    let kind: UInt32
    let bytes: [UInt8]
    let flags: UInt32
  }

  /// The error of set_error(), copied.
  struct Failure: Sendable, Hashable {
    let code: Int32
    let flags: UInt32
    let domain: String
    let message: String
    let detail: String
    var httpStatus: Int32 = 0
    var retryAfter: UInt64 = 0
  }

  var elements: [Element] = []
  /// Whether all staged elements are empty, so that they replace data with nothing.
  var isEmptied: Bool { !elements.isEmpty && elements.allSatisfy(\.bytes.isEmpty) }
  var failure: Failure?
  /// Whether set_error() answered that it cannot.
  var isErrorRefused = false
  var retry: (scope: UInt32, delay: UInt64)?
  var head: HeadSample?
  /// Whether a header or a part was changed.
  var isEdited = false
}
