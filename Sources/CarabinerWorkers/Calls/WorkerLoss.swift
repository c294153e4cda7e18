internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// Why a hook did not run, before it is known which hook of which entry it was.
struct WorkerLoss: Sendable {
  static let retryable = CRB_ERROR_RETRYABLE

  private let error: PluginError

  init(_ error: PluginError) { self.error = error }

  func `in`(_ hook: Hook, of entry: String) -> PluginError {
    var loss = PluginError(code: error.code, entry: entry, hook: hook.name, message: error.message, flags: error.flags)
    loss.retryAfter = error.retryAfter
    loss.countsForBreaker = error.countsForBreaker
    return loss
  }
}
