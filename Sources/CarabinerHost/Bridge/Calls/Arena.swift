internal import CCarabiner

/// Memory that is given out piece by piece and taken back all at once.
@safe struct Arena {
  private var blocks: [UnsafeMutableRawBufferPointer] = unsafe []
  private var used = 0
  private var total = 0

  private static let firstBlock = 4096

  /// `count` zeroed bytes; nil if that would be more than `limit` in all.
  mutating func allocate(_ count: Int, alignment: Int = 16, limit: Int) -> UnsafeMutableRawPointer? {
    if let piece = unsafe piece(count, alignment) { return unsafe piece }
    guard total + nextBlock(count, alignment) <= max(limit, Self.firstBlock) else { return nil }
    return unsafe allocate(count, alignment: alignment)
  }

  /// `count` zeroed bytes.
  mutating func allocate(_ count: Int, alignment: Int = 16) -> UnsafeMutableRawPointer {
    if let piece = unsafe piece(count, alignment) { return unsafe piece }
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: nextBlock(count, alignment), alignment: max(alignment, 16))
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe blocks.append(block)
    total += block.count
    used = count
    // A block is never empty, so it has a base.
    return unsafe block.baseAddress.unsafelyUnwrapped
  }

  /// A piece of the newest block, if it has room.
  private mutating func piece(_ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer? {
    guard let block = unsafe blocks.last, let base = block.baseAddress else { return nil }
    let start = (Int(bitPattern: base) + used + alignment - 1) & ~(alignment - 1)
    let offset = start - Int(bitPattern: base)
    guard offset + count <= block.count else { return nil }
    used = offset + count
    return unsafe base + offset
  }

  private func nextBlock(_ count: Int, _ alignment: Int) -> Int {
    unsafe max(Self.firstBlock, (blocks.last?.count ?? 0) * 2, count + alignment)
  }

  /// A copy of these bytes.
  mutating func copy(_ bytes: UnsafeRawBufferPointer, limit: Int) -> crb_view? {
    guard let target = unsafe allocate(max(bytes.count, 1), alignment: 1, limit: limit) else { return nil }
    unsafe target.copyMemory(from: UnsafeRawPointer(bytes.baseAddress ?? UnsafeRawPointer(target)), byteCount: bytes.count)
    return unsafe crb_view(ptr: target.assumingMemoryBound(to: UInt8.self), len: bytes.count)
  }

  mutating func copy(_ text: String, limit: Int) -> crb_view? {
    var text = text
    return text.withUTF8 { unsafe copy(UnsafeRawBufferPointer($0), limit: limit) }
  }

  /// Takes everything back; the first block is kept for the next use.
  mutating func reset() {
    guard used > 0 || total > Self.firstBlock, let first = unsafe blocks.first else { return }
    // What is given out next must be zero again; in a single block nothing beyond `used` was given out.
    var dirty = used
    if unsafe blocks.count > 1 {
      for index in unsafe blocks.indices.dropFirst() { unsafe blocks[index].deallocate() }
      unsafe blocks = unsafe [first]
      dirty = first.count
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: first[..<dirty]).initializeMemory(as: UInt8.self, repeating: 0)
    total = first.count
    used = 0
  }

  mutating func deallocate() {
    for index in unsafe blocks.indices { unsafe blocks[index].deallocate() }
    unsafe blocks = unsafe []
  }
}
