import Glibc
import Synchronization
import Testing

@testable import CarabinerCurl

@Suite("The loop's set of sockets", .timeLimit(.minutes(2)))
struct PollTests {
  private let poll: Poll

  init() throws { poll = try Poll(counters: TransportCounters()) }

  /// Calls `body` with pipes that are in the set and have a byte to read.
  private func withReadablePipes(_ count: Int, _ body: ([Int32]) throws -> Void) throws {
    var ends: [Int32] = []
    defer { for end in ends { close(end) } }
    for _ in 0..<count {
      var pair: [Int32] = [-1, -1]
      #expect(unsafe pipe(&pair) == 0)
      ends += pair
      #expect(unsafe write(pair[1], "x", 1) == 1)
      poll.watch(pair[0], curlAction: 1)
    }
    try body(stride(from: 0, to: ends.count, by: 2).map { ends[$0] })
    for end in stride(from: 0, to: ends.count, by: 2) { poll.forget(ends[end]) }
  }

  private func wait(_ milliseconds: Int32 = 0, _ onReady: (Int32) -> Void = { _ in }) {
    poll.wait(milliseconds: milliseconds) {
    } onReady: {
      onReady($0.descriptor)
    }
  }

  @Test("bytes that came before a wait are known behind it, and not while its events are handled")
  func reported() throws {
    #expect(!poll.hasReported(since: poll.begunWaits))
    let before = poll.begunWaits
    wait()
    #expect(poll.hasReported(since: before))
    #expect(!poll.hasReported(since: poll.begunWaits), "the socket was read after that wait")
    try withReadablePipes(2) { pipes in
      var ready: [Int32] = []
      wait { descriptor in
        ready.append(descriptor)
        #expect(!poll.hasReported(since: before))
      }
      #expect(ready.sorted() == pipes.sorted())
      #expect(poll.hasReported(since: before))
    }
  }

  @Test("a wait that may have left out sockets is not relied on")
  func full() throws {
    try withReadablePipes(64) { _ in
      wait()
      #expect(!poll.hasReported(since: 0))
    }
    wait()
    #expect(poll.hasReported(since: 0))
  }

  @Test("each wake-up ends one wait, and none is lost between waits")
  func wakeUps() {
    for _ in 0..<3 {
      poll.wake()
      poll.wake()
      // Would fail by the time limit of the suite otherwise.
      wait(-1)
    }
    poll.wake()
    wait(0)
    poll.wake()
    wait(-1)
  }
}
