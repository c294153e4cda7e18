import Synchronization
import Testing

@testable import CarabinerConformance

@Suite("The constants of a plugin")
struct PluginConstantsTests {
  @Test("the file is parsed once, and not before a check uses its words")
  func parsedOnce() {
    let count = Mutex(0)
    let constants = PluginConstants(of: [1, 2]) { bytes in
      count.withLock { $0 += bytes.count }
      return Vocabulary(bytes)
    }
    #expect(count.withLock(\.self) == 0)
    #expect(constants.words.names == Vocabulary([1, 2]).names)
    #expect(constants.words.phrases == Vocabulary([1, 2]).phrases)
    #expect(count.withLock(\.self) == 2)
  }
}
