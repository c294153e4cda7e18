internal import CCarabiner

/// Where the first hook of a stage puts its state.
typealias StateWord = UnsafeMutablePointer<UnsafeMutableRawPointer?>

extension CallState {
  /// Runs a stage's first hook with its state, made if there is none yet.
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

  /// Runs a further hook with the state of the first. A cache may be written to without having been read.
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
