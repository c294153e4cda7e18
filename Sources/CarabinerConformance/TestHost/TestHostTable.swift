internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// The table of host functions that the test host provides.
enum TestHostTable {
  /// How a table differs from that of an ordinary host.
  struct Shape: Sendable {
    /// The minor version in the table.
    var minor = UInt16(CRB_ABI_MINOR)
    /// Bytes beyond the last slot the header knows, as a newer host has.
    var extraBytes = 0
    /// The size in the table; its real size if nil.
    var size: Int?
  }

  /// How many bytes after a table have functions that report their use.
  private static let trapBytes = 512

  /// A table that lives as long as the process.
  static func make(_ shape: Shape = Shape(), for name: String) -> UnsafePointer<crb_host> {
    let full = unsafe MemoryLayout<crb_host>.size + shape.extraBytes
    let memory = UnsafeMutableRawPointer.allocate(byteCount: full + trapBytes, alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: full + trapBytes)
    let table = unsafe memory.bindMemory(to: crb_host.self, capacity: 1)
    unsafe table.initialize(to: crb_host())
    unsafe table.pointee.size = UInt32(shape.size ?? full)
    unsafe table.pointee.abi_major = UInt16(CRB_ABI_MAJOR)
    unsafe table.pointee.abi_minor = shape.minor
    unsafe table.pointee.name = unsafe staticView(HostEnvironment.name)
    unsafe table.pointee.version = unsafe staticView(HostEnvironment.version)
    unsafe table.pointee.`self` = TestHost.current.newMember()
    unsafe fillBuffers(table)
    unsafe fillWaiting(table)
    unsafe fillAnswers(table)
    unsafe fillMessage(table)
    unsafe fillBaggageAndLog(table)
    // Slots of a newer host, which no header has yet; and slots beyond the size, which are not part of the table: a plugin
    // that calls them has not checked the size.
    let size = shape.size ?? full
    let word = unsafe MemoryLayout<UnsafeRawPointer>.size
    for offset in unsafe stride(from: min(size, MemoryLayout<crb_host>.size) / word * word, to: full + trapBytes, by: word) {
      let function = unsafe NewerSlots.function(at: offset, offset < size ? .newer : .beyond)
      unsafe (memory + offset).storeBytes(of: UInt(bitPattern: function), as: UInt.self)
    }
    return unsafe UnsafePointer(table)
  }

  private static func staticView(_ text: String) -> crb_view {
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(text.utf8.count, 1))
    for (index, byte) in text.utf8.enumerated() { unsafe bytes[index] = byte }
    return unsafe crb_view(ptr: UnsafePointer(bytes), len: text.utf8.count)
  }

  private static func fillBuffers(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.query = { who, id in unsafe TestHost.current.query(who, id) }
    unsafe table.pointee.buf_alloc = { who, count, writable in
      let buffer = unsafe TestHost.current.allocate(count, writable)
      if buffer != 0 { unsafe TestHost.current.markUnwritten(count, writable?.pointee) }
      return buffer
    }
    unsafe table.pointee.buf_adopt = { who, bytes, count, drop, user in
      unsafe TestHost.current.adopt(bytes, count, drop, user)
    }
    unsafe table.pointee.buf_slice = { TestHost.current.slice($0, $1, $2) }
    unsafe table.pointee.buf_retain = { TestHost.current.retain($0) }
    unsafe table.pointee.buf_release = { TestHost.current.release($0, .bufRelease) }
    unsafe table.pointee.buf_view = { unsafe TestHost.current.view($0) }
    unsafe table.pointee.scratch = { unsafe TestHost.current.scratch($0, $1, $2) }
  }

  private static func fillWaiting(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.suspend = { TestHost.current.suspend($0) }
    unsafe table.pointee.resume = { TestHost.current.resume($0, $1) }
    unsafe table.pointee.cancelled = { TestHost.current.isCancelled($0) }
    unsafe table.pointee.deadline_ns = { TestHost.current.deadline(of: $0) }
    unsafe table.pointee.attempt = { TestHost.current.attempt(of: $0) }
  }

  private static func fillAnswers(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.emit = {
      TestHost.current.keep(.emit, "a result or a chunk", buffer: $2)
      return TestHost.current.emit($0, $1, $2, $3)
    }
    unsafe table.pointee.set_error = {
      unsafe TestHost.current.keep(error: $1)
      return unsafe TestHost.current.setError($0, $1)
    }
    unsafe table.pointee.set_retry = { TestHost.current.setRetry($0, $1, $2) }
    unsafe table.pointee.set_head = {
      unsafe TestHost.current.keep(head: $1)
      return unsafe TestHost.current.setHead($0, $1)
    }
  }

  private static func fillMessage(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.operation_type = { TestHost.current.operationType(of: $0) }
    unsafe table.pointee.request_id = { TestHost.current.requestID(of: $0) }
    unsafe table.pointee.headers = { unsafe TestHost.current.headers($0, $1, $2) }
    unsafe table.pointee.header_get = { unsafe TestHost.current.headerGet($0, $1, $2) }
    unsafe table.pointee.header_set = {
      unsafe TestHost.current.keep(.headerSet, header: $1, $2, $3)
      return unsafe TestHost.current.headerSet($0, $1, $2, $3)
    }
    unsafe table.pointee.field_get = { unsafe TestHost.current.fieldGet($0, $1, $2) }
    unsafe table.pointee.field_set = {
      TestHost.current.keep(.fieldSet, $1 == Parts.url.rawValue ? "the URL" : "part \($1) of the message", buffer: $2)
      return TestHost.current.fieldSet($0, $1, $2)
    }
  }

  private static func fillBaggageAndLog(_ table: UnsafeMutablePointer<crb_host>) {
    unsafe table.pointee.key = { who, name in
      unsafe TestHost.current.keep(.key, "the name of a key", name)
      return unsafe TestHost.current.key(name)
    }
    unsafe table.pointee.bag_get = { unsafe TestHost.current.bagGet($0, $1, $2) }
    unsafe table.pointee.bag_set = {
      unsafe TestHost.current.keep(value: $3)
      return unsafe TestHost.current.bagSet($0, $1, $2, $3)
    }
    unsafe table.pointee.log_enabled = { who, level in 1 }
    unsafe table.pointee.log = { who, level, call, message in
      unsafe TestHost.current.keep(.log, "a log line", message)
      unsafe TestHost.current.log(message)
    }
  }
}
