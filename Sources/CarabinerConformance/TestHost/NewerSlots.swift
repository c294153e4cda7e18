internal import CCarabiner
internal import CFFI
internal import CTestHost

/// Functions for slots of the host's table that are not in the header yet, or that are beyond the end of the table. Each function
/// knows the offset of its slot, and may be called with any arguments.
enum NewerSlots {
  /// The content of a slot.
  enum Role: Sendable {
    /// A function of a newer host, which answers ``TestHost/State/newerAnswer``.
    case newer
    /// A slot beyond the table. A plugin that calls it has not checked the table's size.
    case beyond
  }

  /// A C function for the slot at an offset, which lives as long as the process; nil if the system cannot make one.
  static func function(at offset: Int, _ role: Role) -> UnsafeRawPointer? {
    var code: UnsafeMutableRawPointer?
    guard let memory = unsafe ffi_closure_alloc(MemoryLayout<ffi_closure>.size, &code), let code = unsafe code else { return nil }
    let interface = UnsafeMutablePointer<ffi_cif>.allocate(capacity: 1)
    unsafe interface.initialize(to: ffi_cif())
    let note = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
    unsafe note.initialize(to: Slot(offset: offset, role: role))
    // The function is declared without arguments. In the C ABIs of Linux, the caller removes its arguments from the stack.
    guard unsafe ffi_prep_cif(interface, FFI_DEFAULT_ABI, 0, CFFI_uint64(), nil) == FFI_OK,
      unsafe ffi_prep_closure_loc(memory.assumingMemoryBound(to: ffi_closure.self), interface, called, note, code) == FFI_OK
    else { return nil }
    return UnsafeRawPointer(code)
  }

  private struct Slot {
    let offset: Int
    let role: Role
  }

  private static let called:
    @convention(c) (
      UnsafeMutablePointer<ffi_cif>?, UnsafeMutableRawPointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      UnsafeMutableRawPointer?
    ) -> Void = { interface, result, arguments, note in
      guard let slot = unsafe note?.assumingMemoryBound(to: Slot.self).pointee else { return }
      let testHost = TestHost.current
      FlightRecord.trace(CTESTHOST_USE, "slot at byte \(slot.offset)")
      switch slot.role {
      case .newer: unsafe result?.storeBytes(of: testHost.state.withLock { $0.newerAnswer }, as: UInt64.self)
      case .beyond:
        testHost.breach(
          "LD09",
          "the host function at byte \(slot.offset) was called, beyond the size of the host's table; check with CRB_HAS before the call"
        )
        unsafe result?.storeBytes(of: 0, as: UInt64.self)
      }
    }
}
