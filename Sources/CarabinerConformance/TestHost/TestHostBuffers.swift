internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// The counted bytes plugins hold. Guarded by the test host's lock; drop functions run outside of it.
@safe struct TestHostBuffers {
  /// How many bytes one plugin may hold, as in a host.
  static let quota = 256 << 20

  /// Memory that several buffers may share.
  @safe final class Storage {
    let bytes: UnsafeMutableRawBufferPointer
    /// The function that returns adopted bytes to the plugin.
    let drop: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    let user: UnsafeMutableRawPointer?
    var references = 1
    /// A digest of adopted bytes at their adoption, if a check asks for it.
    var fingerprint: Int?

    init(
      _ bytes: UnsafeMutableRawBufferPointer, drop: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
      user: UnsafeMutableRawPointer?
    ) {
      unsafe self.bytes = unsafe bytes
      unsafe self.drop = unsafe drop
      unsafe self.user = unsafe user
    }
  }

  private struct Buffer {
    let storage: Storage
    let range: Range<Int>
    var references: Int
  }

  /// Work to do after the last release, without the lock.
  @safe struct Release {
    fileprivate let storage: Storage

    /// Whether the plugin's drop function is to be called.
    var isAdopted: Bool { unsafe storage.drop != nil }
    /// The address of bytes of the host; nil if the plugin owns them.
    var ownAddress: UInt? { unsafe storage.drop == nil ? UInt(bitPattern: storage.bytes.baseAddress) : nil }
    /// Whether adopted bytes are unchanged.
    var isUnchanged: Bool { storage.fingerprint.map { unsafe $0 == TestHostBuffers.fingerprint(storage.bytes) } ?? true }

    func perform() {
      if let drop = unsafe storage.drop { unsafe drop(storage.user) } else { unsafe storage.bytes.deallocate() }
    }
  }

  private var buffers: [crb_buf: Buffer] = [:]
  private var next: UInt64 = 1
  private var held = 0
  /// Whether adopted bytes are returned late, after a check for changes.
  var keepsAdopted = false
  /// The bytes to return later.
  var kept: [Release] = []

  /// How many buffers were ever made.
  private(set) var made = 0

  /// How many buffers are alive.
  var count: Int { buffers.count }

  mutating func allocate(_ count: Int) -> (handle: crb_buf, bytes: UnsafeMutablePointer<UInt8>)? {
    guard count >= 0, count <= Self.quota - held else { return nil }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
    let storage = unsafe Storage(bytes, drop: nil, user: nil)
    guard let base = bytes.baseAddress else { return nil }
    held += count
    return unsafe (insert(storage, 0..<count), base.assumingMemoryBound(to: UInt8.self))
  }

  mutating func adopt(
    _ bytes: UnsafeRawBufferPointer, drop: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, user: UnsafeMutableRawPointer?
  ) -> crb_buf {
    // The plugin may give no drop function. It owns the bytes nevertheless.
    let storage = unsafe Storage(UnsafeMutableRawBufferPointer(mutating: bytes), drop: drop ?? { _ in }, user: user)
    if keepsAdopted { storage.fingerprint = unsafe Self.fingerprint(storage.bytes) }
    return insert(storage, 0..<bytes.count)
  }

  mutating func slice(_ handle: crb_buf, _ offset: Int, _ count: Int) -> crb_buf? {
    guard let buffer = buffers[handle], offset >= 0, count >= 0, offset <= buffer.range.count,
      count <= buffer.range.count - offset
    else { return nil }
    buffer.storage.references += 1
    let start = buffer.range.lowerBound + offset
    return insert(buffer.storage, start..<(start + count))
  }

  mutating func retain(_ handle: crb_buf) -> Bool {
    guard buffers[handle] != nil else { return false }
    buffers[handle]?.references += 1
    return true
  }

  /// Removes one reference; nil if there is no such buffer.
  mutating func release(_ handle: crb_buf) -> [Release]? {
    guard var buffer = buffers[handle] else { return nil }
    buffer.references -= 1
    guard buffer.references == 0 else {
      buffers[handle] = buffer
      return []
    }
    buffers[handle] = nil
    buffer.storage.references -= 1
    guard buffer.storage.references == 0 else { return [] }
    if unsafe buffer.storage.drop == nil { held -= unsafe buffer.storage.bytes.count }
    return [Release(storage: buffer.storage)]
  }

  /// The bytes of a buffer, valid while it is referenced.
  func view(_ handle: crb_buf) -> crb_view? {
    guard let buffer = buffers[handle] else { return nil }
    guard let base = unsafe buffer.storage.bytes.baseAddress else { return unsafe crb_view(ptr: nil, len: 0) }
    return unsafe crb_view(
      ptr: UnsafePointer(base.assumingMemoryBound(to: UInt8.self)) + buffer.range.lowerBound, len: buffer.range.count)
  }

  func copy(_ handle: crb_buf) -> [UInt8]? { unsafe view(handle).map { unsafe Array($0.bytes) } }

  /// FNV-1a.
  fileprivate static func fingerprint(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for index in 0..<bytes.count { hash = unsafe (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: hash)
  }

  private mutating func insert(_ storage: Storage, _ range: Range<Int>) -> crb_buf {
    defer {
      next += 1
      made += 1
    }
    let handle = HandleKind.buffer.handle(next)
    buffers[handle] = Buffer(storage: storage, range: range, references: 1)
    return handle
  }
}
