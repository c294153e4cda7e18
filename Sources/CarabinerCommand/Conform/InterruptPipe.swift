internal import Foundation
internal import Synchronization

/// A descriptor that becomes readable at Ctrl-C, so that threads can wait for it and for a child.
final class InterruptPipe {
  private let signal = InterruptSignal()
  private let pipe = Pipe()

  /// The readable end.
  var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }
  /// Whether Ctrl-C was pressed.
  var wasRaised: Bool { raised.withLock(\.self) }
  private let raised: RaisedFlag

  /// A class, because the signal handler keeps it.
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
