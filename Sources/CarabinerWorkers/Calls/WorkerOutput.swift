internal import CarabinerBridge
internal import CarabinerWire
internal import Glibc
internal import Logging
internal import Synchronization

/// The lines that a worker prints to descriptors 1 and 2, which go to the log.
final class WorkerOutput: Sendable {
  private struct State {
    var line: [UInt8] = []
    var isClosed = false
  }

  let descriptor: Int32
  private let group: String
  private let counters: WorkerCounters
  private let lastLines: WorkerLines
  private let state = Mutex(State())

  private static let logger = Logger(label: "carabiner.worker")
  private static let maximumLine = HostFunctions.maximumLogBytes
  /// The maximum number of blocks that are read at the end of a process. A pipe holds less.
  private static let lastBlocks = 64

  /// - Parameter descriptor: A pipe that does not block, which the object owns.
  init(_ descriptor: Int32, group: String, counters: WorkerCounters, lastLines: WorkerLines) {
    self.descriptor = descriptor
    self.group = group
    self.counters = counters
    self.lastLines = lastLines
  }

  deinit { close() }

  /// Reads once.
  ///
  /// - Returns: False at the end.
  func read() -> Bool { state.withLock { read(&$0) == .data } }

  /// Reads what is left of a process that has ended.
  func drain() {
    state.withLock { state in
      for _ in 0..<Self.lastBlocks where read(&state) != .data { return }
    }
  }

  private enum Result { case data, end }

  private func read(_ state: inout State) -> Result {
    guard !state.isClosed else { return .end }
    var block = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(descriptor, &block, block.count)
    guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) ? .data : .end }
    for byte in block[..<count] {
      if byte == UInt8(ascii: "\n") || state.line.count == Self.maximumLine { flush(&state) }
      if byte != UInt8(ascii: "\n") { state.line.append(byte) }
    }
    return .data
  }

  private func flush(_ state: inout State) {
    defer { state.line.removeAll(keepingCapacity: true) }
    guard counters.log.admits(state.line.count) else {
      counters.droppedLines.add()
      return
    }
    unsafe state.line.withUnsafeBytes { unsafe lastLines.add($0) }
    Self.logger.info("\(PrintableText.escaping(state.line))", metadata: ["worker": "\(group)"])
  }

  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      if !state.line.isEmpty { flush(&state) }
      Glibc.close(descriptor)
    }
  }
}

/// The last lines that the plugins of a process wrote, for the report of its end.
final class WorkerLines: Sendable {
  private static let maximumCount = 5
  private static let maximumBytes = 200

  private let lines = Mutex<[[UInt8]]>([])

  func add(_ line: UnsafeRawBufferPointer) {
    let copy = unsafe Array(line.prefix(Self.maximumBytes))
    guard !copy.isEmpty else { return }
    lines.withLock { lines in
      if lines.count == Self.maximumCount { lines.removeFirst() }
      lines.append(copy)
    }
  }

  /// The lines, the oldest first.
  var texts: [String] { lines.withLock { $0.map { PrintableText.escaping($0) } } }
}
