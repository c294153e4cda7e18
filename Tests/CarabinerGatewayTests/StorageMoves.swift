import NIOCore

/// Counts how often the storage of a buffer that grows is another one. Each time, all its bytes are copied.
struct StorageMoves {
  private var last: UInt?
  private(set) var count = 0

  mutating func look(at buffer: ByteBuffer?) {
    let address = unsafe buffer?.withVeryUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    if address != last { count += 1 }
    last = address
  }
}
