import Testing

@testable import CarabinerConformance

/// The numbers that the test host uses as handles.
@Suite("Handles of the test host")
struct HandleKindTests {
  @Test("handles of different kinds never collide, and have a host's format: place and generation")
  func kinds() {
    var seen: Set<UInt64> = []
    for kind in [HandleKind.call, .token, .buffer] {
      for number: UInt64 in 1...1000 {
        let handle = kind.handle(number)
        #expect(seen.insert(handle).inserted)
        #expect(handle >> 32 == number && handle & 0xFFFF_FFFF != 0)
      }
    }
  }

  @Test("numbers of instances are all different, the same each time, and far from each other")
  func members() {
    let numbers = (1...1000).map { HandleKind.member($0) }
    #expect(Set(numbers).count == numbers.count)
    #expect(!numbers.contains(0))
    #expect(numbers == (1...1000).map { HandleKind.member($0) })
    for (one, next) in zip(numbers, numbers.dropFirst()) { #expect(max(one, next) - min(one, next) > 1 << 32) }
  }
}
