internal import CCarabiner

/// The place where the first hook of a stage stores its state.
typealias StateWord = UnsafeMutablePointer<UnsafeMutableRawPointer?>

extension CallState {
  /// Runs a stage's first hook with the call's state, which is created if there is none.
  static func made(at word: StateWord?, _ body: (inout Self) throws -> Verdict) throws -> Verdict {
    guard MemoryLayout<Self>.size > 0, let word = unsafe word else {
      var nothing = Self()
      return try body(&nothing)
    }
    if unsafe word.pointee == nil {
      let memory = UnsafeMutablePointer<Self>.allocate(capacity: 1)
      unsafe memory.initialize(to: Self())
      unsafe word.pointee = UnsafeMutableRawPointer(memory)
    }
    return try unsafe kept(at: word.pointee, body)
  }

  /// Runs a later hook with the state of the first. Without a first hook the state is new: a cache may be written without a
  /// read.
  static func kept(at word: UnsafeMutableRawPointer?, _ body: (inout Self) throws -> Verdict) throws -> Verdict {
    guard let word = unsafe word else {
      var nothing = Self()
      return try body(&nothing)
    }
    return try unsafe body(&word.assumingMemoryBound(to: Self.self).pointee)
  }

  static func release(_ word: UnsafeMutableRawPointer) {
    let memory = unsafe word.assumingMemoryBound(to: Self.self)
    unsafe memory.deinitialize(count: 1)
    unsafe memory.deallocate()
  }
}
