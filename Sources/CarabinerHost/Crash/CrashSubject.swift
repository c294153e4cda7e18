internal import CCrash

/// Whose code a thread runs, for whoever has to tell what the process died of.
struct CrashSubject: Sendable {
  /// What of a plugin runs, hooks of stages aside; the numbers go on where those of ``Hook`` end, and `crash.c` has their names.
  enum Work: UInt {
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

  /// What is noted; 0 for nobody.
  let word: UInt

  init(entry: String, file: String, digest: String, generation: UInt64) {
    word = unsafe CCrash_new_subject(entry, file, digest, generation)
  }

  /// Whoever's code this thread runs now.
  private init(word: UInt) { self.word = word }

  /// Whose code this thread runs: he is to answer for what he has called back later.
  static var current: CrashSubject { CrashSubject(word: CCrash_outer().subject & ~(UInt(CCrash_ALIGNMENT) - 1)) }

  /// Whether it is code of the library with this digest.
  func isOf(library digest: String) -> Bool {
    guard let subject = unsafe UnsafePointer<CCrash_subject>(bitPattern: word), let own = unsafe subject.pointee.digest
    else { return false }
    return unsafe String(cString: own) == digest
  }

  /// Runs code of the plugin, maybe from within code of another.
  @inline(__always)
  func during<Value, Failure: Error>(
    _ work: Work, request: UInt64 = 0, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outer = CCrash_outer()
    // What nobody is known to have asked for is told by the instruction alone.
    CCrash_enter(word, word == 0 ? 0 : work.rawValue, request)
    defer { CCrash_restore(outer) }
    return try body()
  }
}
