internal import CCarabiner
internal import Glibc

/// Memory that is given out piece by piece and taken back at once.
@safe package struct Arena {
  private var blocks: [UnsafeMutableRawBufferPointer] = unsafe []
  private var used = 0
  private var total = 0

  package init() {}

  private static let firstBlock = 4096
  /// A first block larger than this is not kept for the next use, 64 KiB.
  private static let largestKept = 64 << 10

  /// How many bytes its blocks have.
  var byteCount: Int { total }

  /// `count` zeroed bytes; nil if that would be more than `limit` in all, or there is no memory.
  mutating func allocate(_ count: Int, alignment: Int = 16, limit: Int) -> UnsafeMutableRawPointer? {
    if let piece = unsafe piece(count, alignment) { return unsafe piece }
    guard let size = nextBlock(count, alignment), size <= max(limit, Self.firstBlock) - total else { return nil }
    return unsafe allocate(inBlockOf: size, count, alignment)
  }

  /// `count` zeroed bytes for the host's own use; nil if there is no memory.
  package mutating func allocate(_ count: Int, alignment: Int = 16) -> UnsafeMutableRawPointer? {
    if let piece = unsafe piece(count, alignment) { return unsafe piece }
    guard let size = nextBlock(count, alignment) else { return nil }
    // A smaller block may still be available.
    return unsafe allocate(inBlockOf: size, count, alignment)
      ?? allocate(inBlockOf: max(Self.firstBlock, count + alignment), count, alignment)
  }

  /// Bytes at the start of a new block.
  private mutating func allocate(inBlockOf size: Int, _ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer? {
    // Not Swift's own allocation, which ends the process if there is no memory. calloc need not zero memory that the system has zeroed.
    guard let base = unsafe calloc(1, size) else { return nil }
    unsafe blocks.append(UnsafeMutableRawBufferPointer(start: base, count: size))
    total += size
    used = 0
    return unsafe piece(count, alignment)
  }

  /// A piece of the newest block, if it has room.
  private mutating func piece(_ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer? {
    guard let block = unsafe blocks.last, let base = block.baseAddress else { return nil }
    let start = (Int(bitPattern: base) + used + alignment - 1) & ~(alignment - 1)
    let offset = start - Int(bitPattern: base)
    guard count <= block.count - offset else { return nil }
    used = offset + count
    return unsafe base + offset
  }

  /// The size of the next block; nil if no block can have that many bytes.
  private func nextBlock(_ count: Int, _ alignment: Int) -> Int? {
    let (needed, isTooLarge) = count.addingReportingOverflow(alignment)
    return isTooLarge ? nil : unsafe max(Self.firstBlock, (blocks.last?.count ?? 0) * 2, needed)
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
    guard first.count <= Self.largestKept else { return deallocate() }
    // The next pieces must be zero again. In a single block, no byte beyond `used` was given out.
    var dirty = used
    if unsafe blocks.count > 1 {
      for index in unsafe blocks.indices.dropFirst() { unsafe free(blocks[index].baseAddress) }
      unsafe blocks = unsafe [first]
      dirty = first.count
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: first[..<dirty]).initializeMemory(as: UInt8.self, repeating: 0)
    total = first.count
    used = 0
  }

  package mutating func deallocate() {
    for index in unsafe blocks.indices { unsafe free(blocks[index].baseAddress) }
    unsafe blocks = unsafe []
    total = 0
    used = 0
  }
}
