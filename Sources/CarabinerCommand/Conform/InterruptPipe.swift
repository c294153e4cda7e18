internal import Foundation
internal import Synchronization

/// A descriptor that becomes readable when Ctrl-C was pressed: what threads that wait for a child can look at beside it.
final class InterruptPipe {
  private let signal = InterruptSignal()
  private let pipe = Pipe()

  /// What becomes readable.
  var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }
  /// Whether it was pressed.
  var wasRaised: Bool { raised.withLock(\.self) }
  private let raised: RaisedFlag

  /// Behind a class: a signal's handler keeps it.
  private final class RaisedFlag: Sendable {
    private let value = Mutex(false)
    func withLock<Value>(_ body: (inout Bool) -> sending Value) -> sending Value { value.withLock(body) }
  }

  init() {
    let flag = RaisedFlag()
    raised = flag
    let writer = pipe.fileHandleForWriting
    signal.handle {
      flag.withLock { $0 = true }
      try? writer.write(contentsOf: Data([1]))
    }
  }

  func close() { signal.stop() }
}
