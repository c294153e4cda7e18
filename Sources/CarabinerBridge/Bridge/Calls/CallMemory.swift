internal import CCarabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The memory that plugins may read until a step of the call or the call ends.
///
/// It cannot be copied: views refer to it.
@safe package struct CallMemory: ~Copyable {
  /// Memory of the step: its views and events.
  var views = Arena()
  /// Memory for `scratch`. It lasts as long as the call.
  var scratch = Arena()
  /// Data that views of the step refer to without a copy.
  private var pins: [Data] = []
  /// Whether the step has pins or revoked tokens.
  private var hasLoans = false
  /// The tokens that were revoked in this step. Their plugins may still read its views.
  private var readersOfStep: [crb_token] = []
  /// The tokens that were revoked in this call. Their plugins may still use its scratch memory.
  private var readersOfCall: [crb_token] = []

  /// Ends the views at the end of a step.
  mutating func endStep() {
    if hasLoans { endLoans() }
    views.reset()
  }

  @inline(never)
  private mutating func endLoans() {
    hasLoans = false
    guard !readersOfStep.isEmpty else { return pins.removeAll(keepingCapacity: true) }
    Quarantine.shared.keep(KeptMemory(views, pins), for: readersOfStep)
    readersOfStep = []
    views = Arena()
    pins = []
  }

  /// Takes the scratch memory back at the end of the call.
  mutating func endScratch() {
    guard !readersOfCall.isEmpty else { return scratch.reset() }
    Quarantine.shared.keep(KeptMemory(scratch), for: readersOfCall)
    readersOfCall = []
    scratch = Arena()
  }

  /// Records that the token of a pending hook was revoked. Its plugin may read the step's views, and use the call's scratch memory,
  /// until it resumes.
  mutating func noteRevoked(_ token: crb_token, on environment: HostEnvironment) {
    Quarantine.shared.add(token, on: environment)
    readersOfStep.append(token)
    // A subscription may have many results, and a hook may be too slow for each of them.
    readersOfCall = Quarantine.shared.current(readersOfCall) + [token]
    hasLoans = true
  }

  /// A view of data, valid until the step ends.
  ///
  /// Data of at most 14 bytes is stored inside its value, so short data is copied. Longer data has a buffer of its own.
  mutating func view(of data: Data) -> crb_view {
    if data.count < 64 {
      return unsafe data.withUnsafeBytes { unsafe views.copy($0, limit: .max) } ?? (unsafe .absent)
    }
    pins.append(data)
    hasLoans = true
    return unsafe data.withUnsafeBytes {
      unsafe crb_view(ptr: $0.baseAddress?.assumingMemoryBound(to: UInt8.self), len: $0.count)
    }
  }

  mutating func view(of text: String) -> crb_view { unsafe views.copy(text, limit: .max) ?? .absent }

  mutating func view(of bytes: [UInt8]) -> crb_view { unsafe view(of: bytes, at: bytes.indices) }

  mutating func view(of bytes: [UInt8], at range: Range<Int>) -> crb_view {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe views.copy(UnsafeRawBufferPointer(rebasing: bytes[range]), limit: .max)
    } ?? (unsafe .absent)
  }
}
