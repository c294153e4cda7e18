import Glibc
import Synchronization
import Testing

@testable import CarabinerCommand

@Suite("Ctrl-C")
struct InterruptSignalTests {
  @Test("it is not lost, however soon it comes")
  func soon() async {
    for _ in 0..<50 {
      let signal = InterruptSignal()
      kill(getpid(), SIGINT)
      await withCheckedContinuation { continuation in signal.handle { continuation.resume() } }
      signal.stop()
    }
  }
}
