internal import CCarabiner
internal import CarabinerABI
internal import CarabinerManifest

/// The transfer of state from one instance to the next, by the extension `crb.state/1`.
extension PluginInstance {
  private static let save = "save"
  private static let adopt = "adopt"

  /// The state that the plugin hands over to the next instance; nil if it has none.
  ///
  /// Calls may be under way meanwhile.
  ///
  /// - Throws: ``PluginError`` if the plugin refuses, or if its state is not valid.
  package func state() throws -> PluginState? {
    if let remote { return remote.hasState ? try remote.state() : nil }
    guard let table = stateTable, let save = unsafe table.save else { return nil }
    var buffer: crb_buf = 0
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let ask = { unsafe save(self.instance, &buffer, &why) }
    let status = threadClass == UInt32(CRB_THREADS_SERIAL) ? alone(ask) : ask()
    // The host owns a stored buffer, also if the plugin then refuses.
    defer { if buffer != 0 { _ = BufferTable.shared.release(buffer) } }
    guard status == Status.ok else { throw unsafe refusal(Self.save, "does not hand over its state", why, status) }
    guard buffer != 0 else { return nil }
    guard let count = BufferTable.shared.size(of: buffer) else {
      throw fault(Self.save, "stored a buffer whose last reference is gone, or that never was")
    }
    guard count <= PluginState.maximumBytes else {
      throw fault(Self.save, "hands over \(count) bytes, more than CRB_STATE_MAX_BYTES (\(PluginState.maximumBytes))")
    }
    return unsafe PluginState(
      version: table.version, bytes: Array(BufferTable.shared.view(buffer)?.bytes ?? .init(start: nil, count: 0)))
  }

  /// Passes the state of the previous instance to this one. Call it once, before the first hook.
  ///
  /// - Returns: Whether the plugin accepts states at all.
  /// - Throws: ``PluginError`` if the plugin refuses this one; the instance then works without it.
  @discardableResult
  package func adopt(state: PluginState) throws -> Bool {
    if let remote {
      if remote.hasState { try remote.adopt(state) }
      return remote.hasState
    }
    guard let adopt = unsafe stateTable?.adopt else { return false }
    // An empty state has an address too, because {NULL, 0} means that there is no state.
    let bytes = state.bytes.isEmpty ? [0] : state.bytes
    var why = unsafe crb_error()
    unsafe why.size = UInt32(MemoryLayout<crb_error>.size)
    let status = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe adopt(instance, state.version, crb_view(ptr: bytes.baseAddress, len: state.bytes.count), &why)
    }
    guard status == Status.ok else {
      throw unsafe refusal(Self.adopt, "does not take the state of version \(state.version)", why, status)
    }
    return true
  }

  /// The plugin's functions; nil if it has none, or an instance for each call.
  private var stateTable: crb_state? {
    guard threadClass != UInt32(CRB_THREADS_PER_CALL), let find = unsafe table.interceptor.extension,
      let found = unsafe "crb.state/1".withCString({ unsafe find(instance, $0) })
    else { return nil }
    return unsafe InterceptorTable.copy(found.assumingMemoryBound(to: crb_state.self), crb_state())
  }

  private func refusal(_ function: String, _ what: String, _ why: crb_error, _ status: crb_status) -> PluginError {
    let reason =
      unsafe why.message.isAbsent
      ? "it gave no reason (status \(status))" : unsafe why.message.text(atMost: PluginError.maximumMessageBytes)
    return unsafe PluginError(
      code: .failed, entry: name, hook: function,
      message: "it \(what): \(options.redaction(reason)); the new instance begins without",
      pluginCode: why.code == 0 ? status : why.code, domain: id,
      flags: why.flags)
  }

  private func fault(_ function: String, _ what: String) -> PluginError {
    PluginError(
      code: .fault, entry: name, hook: function,
      message: "it \(what); this breaks the contract in carabiner.h, and the new instance begins without a state", domain: id,
      flags: UInt32(CRB_ERROR_PLUGIN_FAULT))
  }
}
