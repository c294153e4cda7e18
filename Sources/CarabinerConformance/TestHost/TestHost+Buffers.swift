internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import Glibc
internal import Synchronization

/// Bytes and scratch memory.
extension TestHost {
  func allocate(_ count: Int, _ writable: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> crb_buf {
    if use(.bufAlloc) != nil { return 0 }
    guard let writable = unsafe writable else {
      breach("ME05", "buf_alloc was given NULL for the address of the bytes")
      return 0
    }
    let made = unsafe state.withLock { state in
      let made = unsafe state.buffers.allocate(count)
      if let made = unsafe made { unsafe state.own.insert(UInt(bitPattern: made.bytes)) }
      return unsafe made
    }
    guard let made = unsafe made else { return 0 }
    unsafe writable.pointee = unsafe made.bytes
    return unsafe made.handle
  }

  func adopt(
    _ bytes: UnsafeRawPointer?, _ count: Int, _ drop: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
    _ user: UnsafeMutableRawPointer?
  ) -> crb_buf {
    if use(.bufAdopt) != nil { return 0 }
    guard count >= 0, unsafe bytes != nil || count == 0 else { return 0 }
    if count > 0, let bytes = unsafe bytes, let owner = unsafe foreignOwner(of: bytes) {
      breach("ME06", "buf_adopt was given \(owner), which ends before the host drops it")
    }
    return state.withLock { state in
      unsafe state.buffers.adopt(UnsafeRawBufferPointer(start: bytes, count: count), drop: drop, user: user)
    }
  }

  /// The owner of bytes that do not belong to the plugin, so that it cannot pass their ownership; nil if it can.
  private func foreignOwner(of bytes: UnsafeRawPointer) -> String? {
    let isLent = state.withLock { state in state.calls.values.contains { unsafe $0.memory.holds(bytes) } }
    if isLent { return "a view of the host" }
    return unsafe CTestHost_place(bytes, bytes) == CTESTHOST_ON_STACK ? "memory of the stack" : nil
  }

  func slice(_ buffer: crb_buf, _ offset: Int, _ count: Int) -> crb_buf {
    if use(.bufSlice) != nil { return 0 }
    return state.withLock { state in state.buffers.slice(buffer, offset, count) } ?? 0
  }

  func retain(_ buffer: crb_buf) -> crb_status {
    if let fault = use(.bufRetain) { return fault }
    if state.withLock({ state in state.buffers.retain(buffer) }) { return Status.ok }
    breach("ME05", "buf_retain was given a buffer that was released or never existed")
    return Status.stale
  }

  func release(_ buffer: crb_buf, _ slot: HostSlot) -> crb_status {
    if slot == .bufRelease, let fault = use(slot) { return fault }
    guard let work = state.withLock({ state in state.buffers.release(buffer) }) else {
      breach("ME05", "\(slot.rawValue) was given a buffer that was released or never existed")
      return Status.stale
    }
    for release in work { finish(release) }
    return Status.ok
  }

  /// Frees or drops bytes after the last release.
  private func finish(_ release: TestHostBuffers.Release) {
    let isKept = state.withLock { state in
      if let address = release.ownAddress { state.own.remove(address) }
      guard release.isAdopted, state.buffers.keepsAdopted else { return false }
      state.buffers.kept.append(release)
      return true
    }
    // The plugin's drop function may call the host.
    if !isKept { release.perform() }
  }

  /// Whether the plugin may free some memory; notes a breach if not.
  func mayFree(_ memory: UnsafeRawPointer?) -> Bool {
    guard let memory = unsafe memory else { return true }
    let isOurs = state.withLock { $0.own.contains(UInt(bitPattern: memory)) }
    if isOurs { breach("ME10", "it frees memory of the host, from buf_alloc() or scratch()") }
    return !isOurs
  }

  func view(_ buffer: crb_buf) -> crb_view {
    if use(.bufView) != nil { return unsafe .absent }
    if let view = unsafe state.withLock({ state in unsafe state.buffers.view(buffer) }) { return unsafe view }
    breach("ME05", "buf_view was given a buffer that was released or never existed")
    return unsafe .absent
  }

  /// The bytes of a buffer that the plugin passes to the host, which now owns the reference.
  func consume(_ buffer: crb_buf, _ slot: HostSlot) -> [UInt8]? {
    let bytes = state.withLock { state in state.buffers.copy(buffer) }
    _ = release(buffer, slot)
    return bytes
  }

  func scratch(_ handle: crb_call, _ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer? {
    var memory: UnsafeMutableRawPointer?
    _ = enter(handle, .scratch) { state, call in
      guard count >= 0, alignment > 0, alignment & (alignment - 1) == 0, alignment <= 4096,
        count <= Self.maximumScratchBytes - call.scratchBytes
      else { return Status.invalid }
      call.scratchBytes += count
      unsafe memory = unsafe call.scratch(count, alignment)
      state.own.insert(UInt(bitPattern: memory))
      return Status.ok
    }
    return unsafe memory
  }
}
