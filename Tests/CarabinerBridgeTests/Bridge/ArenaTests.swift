import Testing

@testable import CarabinerBridge

@Suite("The memory of a call")
struct ArenaTests {
  @Test(
    "an allocation for which there is no memory fails, and the next one succeeds",
    arguments: [Int.max, .max - 16, .max / 2, 1 << 60], [false, true])
  func noMemory(_ count: Int, isFirst: Bool) {
    var arena = Arena()
    defer { arena.deallocate() }
    if !isFirst { _ = unsafe arena.allocate(1000) }
    let before = arena.byteCount
    #expect(unsafe arena.allocate(count) == nil)
    #expect(unsafe arena.allocate(count, limit: .max) == nil)
    #expect(arena.byteCount == before)
    #expect(unsafe arena.allocate(100) != nil)
  }

  @Test("blocks together stay below the limit")
  func limit() {
    var arena = Arena()
    defer { arena.deallocate() }
    #expect(unsafe arena.allocate(3000, limit: 100_000) != nil)
    #expect(unsafe arena.allocate(90_000, limit: 100_000) != nil)
    #expect(unsafe arena.allocate(50_000, limit: 100_000) == nil)
    #expect(arena.byteCount <= 100_000)
  }
}
