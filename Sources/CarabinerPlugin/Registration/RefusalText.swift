internal import CCarabiner
internal import Synchronization

/// The message of a refusal. The host reads it after the function has returned, so it outlives the call. Later messages replace
/// it.
@safe final class RefusalText: @unchecked Sendable {
  // Safe: written only in `init`.

  /// How many messages are kept. Several threads may be refused at the same time, but the host reads each message immediately.
  private static let maximumKept = 16
  private static let kept = Mutex<[RefusalText]>([])

  private let memory: UnsafeMutableBufferPointer<UInt8>

  private init(_ text: String) {
    unsafe memory = .allocate(capacity: max(text.utf8.count, 1))
    _ = unsafe memory.initialize(from: text.utf8)
  }

  deinit { unsafe memory.deallocate() }

  /// Writes an error to `why`, for functions that have no call.
  static func write(_ error: any Error, _ why: UnsafeMutablePointer<crb_error>?) {
    if let failure = error as? PluginFailure { unsafe why?.pointee.code = failure.code }
    unsafe why?.pointee.message = unsafe keep("\(error)")
  }

  private static func keep(_ text: String) -> crb_view {
    let refusal = RefusalText(text)
    kept.withLock { kept in
      if kept.count == maximumKept { kept.removeFirst() }
      kept.append(refusal)
    }
    return unsafe crb_view(ptr: refusal.memory.baseAddress.map { unsafe UnsafePointer($0) }, len: text.utf8.count)
  }
}
