internal import CSwiftRuntime

/// The memory of the tasks that run operations.
enum TaskMemory {
  /// The frames of the async functions of an operation with some stages, in bytes.
  private static let operationBytes = 20 << 10

  /// Takes the memory for an operation from the system at once. Called first in the operation's task.
  ///
  /// A task has memory of its own for the frames of async functions. It grows by blocks of 1 KB or of one larger frame, which are
  /// freed when a larger one is needed: about 13 times in an operation.
  static func reserve() { CSwiftRuntime_reserveTaskMemory(operationBytes) }
}
