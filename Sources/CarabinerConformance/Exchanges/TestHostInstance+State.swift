internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// The extension `crb.state/1`.
extension TestHostInstance {
  /// The functions of the extension; nil if the plugin does not have it.
  var stateTable: crb_state? {
    guard let pointer = unsafe self.extension("crb.state/1") else { return nil }
    return unsafe InterceptorTable.copy(pointer.assumingMemoryBound(to: crb_state.self), crb_state())
  }

  /// The state that the instance hands over; nil if it refuses or has none. A breach of the contract is noted.
  func save(_ table: crb_state, _ notes: TrialNotes) -> PluginState? {
    guard let save = unsafe table.save else { return nil }
    let testHost = TestHost.current
    let place = "\(interceptor.id) save"
    var buffer: crb_buf = 0
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let status = unsafe use("save") { memory in unsafe save(memory, &buffer, &why) }
    testHost.collectTouches(at: place)
    notes.expect(status <= 0, "save() answers \(status), which is not a status of the header", at: place)
    if buffer == 0 { return nil }
    guard let count = testHost.state.withLock({ state in unsafe state.buffers.view(buffer)?.len }) else {
      notes.fail("save() stores a buffer that was released or never existed", at: place)
      return nil
    }
    guard count <= PluginState.maximumBytes else {
      notes.fail("save() hands over \(count) bytes, more than CRB_STATE_MAX_BYTES", at: place)
      _ = testHost.release(buffer, .bufSlice)
      return nil
    }
    let bytes = testHost.consume(buffer, .bufSlice)
    guard status == Status.ok else {
      notes.fail("save() fails with \(status) but stores a buffer", at: place)
      return nil
    }
    return bytes.map { PluginState(version: table.version, bytes: $0) }
  }

  /// Offers a state to the instance. Returns nil if it takes the state, else the reason for its refusal. The bytes are lent like
  /// those of a hook.
  func adopt(_ state: PluginState, _ table: crb_state, _ notes: TrialNotes) -> String? {
    guard let adopt = unsafe table.adopt else { return "it has no adopt()" }
    let testHost = TestHost.current
    let place = "\(interceptor.id) adopt"
    var lent = GuardedMemory(isGuarded: testHost.state.withLock { $0.isGuarded })
    let view = unsafe lent.view(state.bytes, named: "the state")
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let status = unsafe use("adopt") { memory in unsafe adopt(memory, state.version, view, &why) }
    let reason = unsafe why.message.text
    lent.takeBack()
    testHost.collectTouches(at: place)
    lent.forget()
    notes.expect(status <= 0, "adopt() answers \(status), which is not a status of the header", at: place)
    return status == Status.ok ? nil : "\(status)\(reason.isEmpty ? "" : ": \(reason.prefix(500))")"
  }
}
