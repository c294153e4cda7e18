package import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// The table of host functions a plugin library gets: each slot unwraps its arguments and calls one Swift function.
package enum HostTable {
  /// The table of libraries in workers. Their plugins get another one, from their worker.
  @safe private struct Shared: @unchecked Sendable {
    // Written once, and never used by a plugin.

    let table: UnsafePointer<crb_host>
  }

  private static let shared = unsafe Shared(
    table: make(for: "worker", subject: CrashSubject(entry: "", file: "", digest: "", generation: 0), library: ""))

  package static var ofWorkers: UnsafePointer<crb_host> { unsafe shared.table }

  /// A table for one library. It lives as long as the process, as the library does.
  ///
  /// - Parameters:
  ///   - name: The name of the library in logs before it has instances.
  ///   - subject: The plugin whose code runs while the library is loaded.
  ///   - library: The digest of its file.
  package static func make(for name: String, subject: CrashSubject, library: String) -> UnsafePointer<crb_host> {
    var text = Arena()
    let table = UnsafeMutablePointer<crb_host>.allocate(capacity: 1)
    unsafe table.initialize(to: crb_host())
    unsafe table.pointee.size = unsafe UInt32(MemoryLayout<crb_host>.size)
    unsafe table.pointee.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe table.pointee.abi_minor = UInt16(CRB_ABI_MINOR)
    unsafe table.pointee.name = unsafe text.copy(HostEnvironment.name, limit: .max) ?? .absent
    unsafe table.pointee.version = unsafe text.copy(HostEnvironment.version, limit: .max) ?? .absent
    unsafe table.pointee.`self` = PluginRegistry.shared.register(
      PluginInstance.Options(name: name), subject: subject, library: library)
    unsafe fillBuffers(table)
    unsafe fillWaiting(table)
    unsafe fillAnswers(table)
    unsafe fillMessage(table)
    unsafe fillBaggageAndLog(table)
    return unsafe UnsafePointer(table)
  }

  private static func fillBuffers(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.query = { who, id in unsafe HostServices.query(who, id) }
    unsafe table.pointee.buf_alloc = { who, count, writable in
      guard let writable = unsafe writable, let account = PluginRegistry.shared.caller(who)?.account,
        let made = unsafe BufferTable.shared.allocate(count, limit: HostFunctions.maximumBufferBytes, account)
      else {
        return 0
      }
      unsafe writable.pointee = unsafe made.bytes
      return unsafe made.handle
    }
    unsafe table.pointee.buf_adopt = { who, bytes, count, drop, user in
      // A `size_t` beyond half its range arrives below zero.
      guard count >= 0, let account = PluginRegistry.shared.caller(who)?.account else { return 0 }
      let context = unsafe CallbackContext(user)
      return unsafe BufferTable.shared.adopt(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count), account) {
        unsafe drop?(context.pointer)
      } ?? 0
    }
    unsafe table.pointee.buf_slice = { buffer, offset, count in
      BufferTable.shared.slice(buffer, offset: offset, count: count) ?? 0
    }
    unsafe table.pointee.buf_retain = { BufferTable.shared.retain($0) ? Status.ok : Status.stale }
    unsafe table.pointee.buf_release = { BufferTable.shared.release($0) ? Status.ok : Status.stale }
    unsafe table.pointee.buf_view = { unsafe BufferTable.shared.view($0) ?? .absent }
    unsafe table.pointee.scratch = { unsafe HostFunctions.scratch($0, $1, $2) }
  }

  private static func fillWaiting(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.suspend = { HostFunctions.suspend($0) }
    unsafe table.pointee.resume = { HostFunctions.resume($0, $1) }
    unsafe table.pointee.cancelled = { call in
      guard let call = CallTable.shared.find(call) else { return Status.stale }
      return call.isCancelled.load(ordering: .acquiring) ? 1 : 0
    }
    unsafe table.pointee.deadline_ns = { CallTable.shared.find($0)?.deadline.load(ordering: .relaxed) ?? .max }
    unsafe table.pointee.attempt = { HostFunctions.attempt($0) }
  }

  private static func fillAnswers(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.emit = { HostFunctions.emit($0, $1, $2, $3) }
    unsafe table.pointee.set_error = { unsafe HostFunctions.setError($0, $1) }
    unsafe table.pointee.set_retry = { HostFunctions.setRetry($0, $1, $2) }
    unsafe table.pointee.set_head = { unsafe HostFunctions.setHead($0, $1) }
  }

  private static func fillMessage(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.operation_type = { HostFunctions.operationType($0) }
    unsafe table.pointee.request_id = { HostFunctions.requestID($0) }
    unsafe table.pointee.headers = { unsafe HostFunctions.headers($0, $1, $2) }
    unsafe table.pointee.header_get = { unsafe HostFunctions.headerGet($0, $1, $2) }
    unsafe table.pointee.header_set = { unsafe HostFunctions.headerSet($0, $1, $2, $3) }
    unsafe table.pointee.field_get = { unsafe HostFunctions.fieldGet($0, $1, $2) }
    unsafe table.pointee.field_set = { HostFunctions.fieldSet($0, $1, $2) }
  }

  private static func fillBaggageAndLog(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.key = { _, name in unsafe BaggageKeys.key(for: name.text) }
    unsafe table.pointee.bag_get = { unsafe HostFunctions.baggageGet($0, $1, $2) }
    unsafe table.pointee.bag_set = { unsafe HostFunctions.baggageSet($0, $1, $2, $3) }
    unsafe table.pointee.log_enabled = { HostFunctions.logEnabled($0, $1) }
    unsafe table.pointee.log = { unsafe HostFunctions.log($0, $1, $2, $3) }
  }
}
