internal import CCarabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The steps of a call, and the memory that plugins may read until a step or the call ends.
extension GroupCall {
  /// Begins a step: hooks see this message from now on. The call keeps the message until the step ends.
  @inline(__always)
  package func beginStep(_ message: any HookMessage & AnyObject) {
    endStep()
    self.message = message
  }

  /// Ends a step, after the last stage's hook: closes the hook and ends the views.
  package func endStep() {
    closeHook()
    if hasLoans { endLoans() }
    views.reset()
    message = nil
  }

  @inline(never)
  private func endLoans() {
    hasLoans = false
    guard !readersOfStep.isEmpty else { return pins.removeAll(keepingCapacity: true) }
    Quarantine.shared.keep(KeptMemory(views, pins), for: readersOfStep)
    readersOfStep = []
    views = Arena()
    pins = []
  }

  /// Takes the scratch memory back at the end of the call.
  func endScratch() {
    guard !readersOfCall.isEmpty else { return scratch.reset() }
    Quarantine.shared.keep(KeptMemory(scratch), for: readersOfCall)
    readersOfCall = []
    scratch = Arena()
  }

  /// Records that the pending hook's token was revoked. Its plugin may read the step's views, and use the call's scratch memory, until
  /// it resumes.
  func noteRevoked(_ generation: UInt32, on environment: HostEnvironment) {
    let token = token(generation)
    Quarantine.shared.add(token, on: environment)
    readersOfStep.append(token)
    // A subscription may have many results, and a hook may be too slow for each of them.
    readersOfCall = Quarantine.shared.current(readersOfCall) + [token]
    hasLoans = true
  }

  /// An event in memory of the step: a pending hook may read it as long as its views.
  ///
  /// - Throws: ``PluginError`` if there is no memory. The request then fails.
  func keep<Event: BitwiseCopyable>(_ event: Event) throws(PluginError) -> UnsafeMutablePointer<Event> {
    guard let memory = unsafe views.allocate(MemoryLayout<Event>.size, alignment: MemoryLayout<Event>.alignment) else {
      throw Self.noRoom(group, "no memory for an event of a call; send fewer at once")
    }
    return unsafe memory.initializeMemory(as: Event.self, to: event)
  }

  /// A view of data, valid until the step ends.
  ///
  /// Data of at most 14 bytes is stored inside its value, so short data is copied. Longer data has a buffer of its own.
  func view(of data: Data) -> crb_view {
    if data.count < 64 {
      return unsafe data.withUnsafeBytes { unsafe views.copy($0, limit: .max) } ?? (unsafe .absent)
    }
    pins.append(data)
    hasLoans = true
    return unsafe data.withUnsafeBytes {
      unsafe crb_view(ptr: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), len: $0.count)
    }
  }

  func view(of text: String) -> crb_view { unsafe views.copy(text, limit: .max) ?? .absent }

  func view(of bytes: [UInt8]) -> crb_view { unsafe view(of: bytes, at: bytes.indices) }

  func view(of bytes: [UInt8], at range: Range<Int>) -> crb_view {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe views.copy(UnsafeRawBufferPointer(rebasing: bytes[range]), limit: .max)
    } ?? (unsafe .absent)
  }
}
