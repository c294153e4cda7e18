internal import Carabiner
internal import FoundationEssentials

/// What a hook staged; it takes effect with the verdict.
struct StagedAnswer {
  struct Element {
    let kind: Int32
    let bytes: Data
    let flags: UInt32
  }

  var isTouched = false
  var elements: [Element] = []
  var error: PluginError?
  var retryScope: UInt32?
  var retryDelay: UInt64 = 0
  var head: HTTPURLResponse?
  var headers: HTTPHeaders?
  /// The new bytes of a part; nil inside removes it.
  var fields: [UInt32: Data?] = [:]
}
