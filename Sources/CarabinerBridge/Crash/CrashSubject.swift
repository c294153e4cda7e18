internal import CCrash

/// The plugin whose code a thread runs, for the line that ``CrashReporter`` writes.
package struct CrashSubject: Sendable {
  /// Calls into a plugin other than hooks. The numbers continue those of ``Hook``; `crash.c` has their names.
  package enum Work: UInt {
    case onCancel = 8
    case release
    case create
    case destroy
    case validate
    case drain
    case load
    case entry
    case initialize
    case callback
    case ffi
  }

  /// The word that the thread notes; 0 for no plugin.
  let word: UInt

  package init(entry: String, file: String, digest: String, generation: UInt64) {
    word = unsafe CCrash_new_subject(entry, file, digest, generation)
  }

  /// A subject from the word that a thread noted.
  private init(word: UInt) { self.word = word }

  /// The subject of the code this thread runs now. Callbacks that the code registers are attributed to the same subject.
  static var current: CrashSubject { CrashSubject(word: CCrash_outer().subject & ~(UInt(CCrash_ALIGNMENT) - 1)) }

  /// Whether the subject is the library with this digest.
  func isOf(library digest: String) -> Bool {
    guard let subject = unsafe UnsafePointer<CCrash_subject>(bitPattern: word), let own = unsafe subject.pointee.digest
    else { return false }
    return unsafe String(cString: own) == digest
  }

  /// Runs code of the plugin. The calls may be nested.
  @inline(__always)
  package func during<Value, Failure: Error>(
    _ work: Work, request: UInt64 = 0, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outer = CCrash_outer()
    // Without a subject no call is noted, and the crash is attributed by the address of the instruction.
    CCrash_enter(word, word == 0 ? 0 : work.rawValue, request)
    defer { CCrash_restore(outer) }
    return try body()
  }
}
