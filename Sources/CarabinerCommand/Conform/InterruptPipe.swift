internal import Foundation
internal import Synchronization

/// A descriptor that becomes readable at Ctrl-C, so that a thread can wait for both Ctrl-C and a child process.
final class InterruptPipe {
  private let signal = InterruptSignal()
  private let pipe = Pipe()

  /// The readable end.
  var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }
  /// Whether Ctrl-C was pressed.
  var wasRaised: Bool { raised.withLock(\.self) }
  private let raised: RaisedFlag

  /// A class, because the signal handler also holds it.
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
