internal import CCarabiner

/// A reference-counted buffer of the host. Sharing and slicing copy nothing.
@safe public struct Buffer: ~Copyable, @unchecked Sendable {
  // Safe: the host's buffer functions may be called from any thread.

  private let handle: crb_buf
  private let table: UnsafePointer<crb_host>

  fileprivate init(_ handle: crb_buf, _ table: UnsafePointer<crb_host>) {
    self.handle = handle
    unsafe self.table = unsafe table
  }

  deinit { _ = unsafe table.pointee.buf_release(handle) }

  /// A copy of the bytes.
  public var bytes: [UInt8] { unsafe table.pointee.buf_view(handle).array }

  /// A part of the buffer that shares its bytes.
  ///
  /// - Throws: ``PluginFailure`` if the range lies outside of the buffer.
  public func slice(_ range: Range<Int>) throws -> Buffer {
    guard range.lowerBound >= 0, case let part = unsafe table.pointee.buf_slice(handle, range.lowerBound, range.count), part != 0
    else { throw PluginFailure("the range \(range) lies outside of the buffer") }
    return unsafe Buffer(part, table)
  }

  /// Another reference to the same bytes.
  ///
  /// - Throws: ``PluginFailure`` if the host refuses it.
  public func share() throws -> Buffer {
    try PluginFailure.check(unsafe table.pointee.buf_retain(handle), "another reference to a buffer")
    return unsafe Buffer(handle, table)
  }

  /// Transfers the reference to the host, which releases it.
  consuming func take() -> crb_buf {
    let handle = handle
    discard self
    return handle
  }
}

extension PluginHost {
  /// A new buffer with a copy of the bytes.
  ///
  /// - Throws: ``PluginFailure`` if memory or the plugin's quota is exhausted.
  public func buffer(_ bytes: some Collection<UInt8>) throws -> Buffer {
    var target: UnsafeMutablePointer<UInt8>?
    let count = bytes.count
    let handle = unsafe table.pointee.buf_alloc(identity, count, &target)
    guard handle != 0 else { throw PluginFailure("the host has no memory for a buffer of \(count) bytes") }
    if count > 0, let target = unsafe target {
      _ = unsafe UnsafeMutableBufferPointer(start: target, count: count).update(fromContentsOf: bytes)
    }
    return unsafe Buffer(handle, table)
  }
}
