import Synchronization
import Testing

@testable import Carabiner

@Suite("Streams that are pulled")
struct PullStreamTests {
  private struct Refused: Error {}

  /// The ways to make a stream of one element.
  enum Making: CaseIterable {
    case element
    case step
    case list

    var stream: PullStream<Int> {
      switch self {
      case .element: PullStream(1)
      case .step: PullStream { .last(1) }
      case .list: PullStream(elements: [1])
      }
    }
  }

  private func elements(_ stream: PullStream<Int>) async throws -> [Int] {
    var elements: [Int] = []
    for try await element in stream { elements.append(element) }
    return elements
  }

  @Test("maps are passed in the order they were made", arguments: Making.allCases)
  func order(making: Making) async throws {
    // The type is explicit, because every asynchronous sequence has its own map.
    let tenfold: PullStream<Int> = making.stream.map { $0 * 10 }
    let more: PullStream<Int> = tenfold.map { $0 + 1 }
    let mapped: PullStream<Int> = more.compactMap { $0 * 2 }
    #expect(try await elements(mapped) == [22])
  }

  @Test("a map runs only when an element is read, and once", arguments: Making.allCases)
  func laziness(making: Making) async throws {
    let count = Mutex(0)
    let mapped: PullStream<Int> = making.stream.map { element in
      count.withLock { $0 += 1 }
      return element
    }
    #expect(count.withLock { $0 } == 0)
    #expect(try await elements(mapped) == [1])
    #expect(count.withLock { $0 } == 1)
  }

  @Test("an error from a map reaches the outer maps, not the inner ones", arguments: Making.allCases)
  func errors(making: Making) async throws {
    func refusing() -> PullStream<Int> {
      let inner: PullStream<Int> = making.stream.mapErrors { _ in 7 }
      return inner.map { _ in throw Refused() }
    }
    await #expect(throws: Refused.self) { try await elements(refusing()) }
    #expect(try await elements(refusing().mapErrors { _ in 8 }) == [8])
  }

  @Test("a map that is started in a scope runs there, and once", arguments: Making.allCases)
  func scope(making: Making) async throws {
    var baggage = Baggage()
    baggage["here"] = .bool(true)
    let count = Mutex(0)
    let mapped: PullStream<Int> = making.stream.map { element in
      count.withLock { $0 += 1 }
      return Baggage.current["here"] == .bool(true) ? element : -1
    }
    let started = await Baggage.$current.withValue(baggage) { await mapped.startedInThisScope() }
    #expect(count.withLock { $0 } == 1)
    #expect(try await elements(started) == [1])
    #expect(count.withLock { $0 } == 1)
  }
}
