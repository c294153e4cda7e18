internal import CCarabiner
internal import Synchronization

/// Why something was refused. The host reads it after the function has returned, so it outlives the call, and gives way to later ones.
@safe final class RefusalText: @unchecked Sendable {
  // Written in `init` and never after.

  /// How many texts are kept: several threads may be refused at once, but each text is read at once.
  private static let maximumKept = 16
  private static let kept = Mutex<[RefusalText]>([])

  private let memory: UnsafeMutableBufferPointer<UInt8>

  private init(_ text: String) {
    unsafe memory = .allocate(capacity: max(text.utf8.count, 1))
    _ = unsafe memory.initialize(from: text.utf8)
  }

  deinit { unsafe memory.deallocate() }

  /// Says why, for what is no hook and so has no call.
  static func tell(_ error: any Error, _ why: UnsafeMutablePointer<crb_error>?) {
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
