internal import Carabiner
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Dispatch
internal import Foundation
internal import Logging
internal import Synchronization

/// Writes operations to a file, one per line, on a separate queue.
final class Recorder: Sendable {
  /// The maximum number of operations that wait to be written. Further ones are not recorded.
  private static let maximumWaiting = 1024

  private struct State {
    var waiting = 0
    var written = 0
    var leftOut = 0
    var isFull = false
  }

  private let file: FileHandle
  private let maximumBytes: Int
  private let output: HostOutput
  private let queue = DispatchQueue(label: "carabiner.record")
  private let state = Mutex(State())

  /// The number of operations that were not recorded because the disk is slow or the file has reached its maximum size.
  var leftOut: Int { state.withLock(\.leftOut) }

  // The object is created after everything that can fail: the optimiser of Swift 6.3 cannot deallocate a partly initialised
  // object with a mutex.
  /// Creates the file, readable by its owner only. An existing one is kept under another name.
  convenience init(path: String, maximumBytes: Int, output: HostOutput) throws {
    try KeptRecords.moveUp(path)
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw ServerError.invalid(
        unsafe "the record \(path) cannot be made: \(String(cString: strerror(errno))); --record takes a file in a writable folder"
      )
    }
    self.init(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), maximumBytes: maximumBytes, output: output)
  }

  private init(_ file: FileHandle, maximumBytes: Int, output: HostOutput) {
    self.file = file
    self.maximumBytes = maximumBytes
    self.output = output
  }

  /// Queues an operation for writing.
  func record(_ operation: RecordedOperation) {
    let isTaken = state.withLock { state in
      guard !state.isFull, state.waiting < Self.maximumWaiting else {
        state.leftOut += 1
        return false
      }
      state.waiting += 1
      return true
    }
    if isTaken { queue.async { [self] in write(operation) } }
  }

  /// Returns when all queued operations are written.
  func finish() { queue.sync {} }

  private func write(_ operation: RecordedOperation) {
    let line = Array(output.redacted(Self.redacted(operation).json.description).utf8) + [0x0A]
    let isLast: Bool? = state.withLock { state in
      state.waiting -= 1
      guard state.isFull || state.written + line.count > maximumBytes else {
        state.written += line.count
        return nil
      }
      state.leftOut += 1
      defer { state.isFull = true }
      return !state.isFull
    }
    if let isLast {
      if isLast { output.logger.warning("the record has reached its maximum size and ends here; --record-limit allows more") }
      return
    }
    do {
      try file.write(contentsOf: line)
    } catch {
      state.withLock { $0.isFull = true }
      output.logger.error("the record cannot be written: \(error)")
    }
  }

  // MARK: What is not written

  /// The replacement for a secret value.
  static let placeholder = "[redacted]"
  private static let secretNames: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
  private static let secretParts = ["token", "secret", "password", "api-key", "apikey", "signature", "credential"]

  private static func redacted(_ operation: RecordedOperation) -> RecordedOperation {
    var operation = operation
    operation.headers = redacted(operation.headers)
    for index in operation.upstream.indices {
      operation.upstream[index].headers = redacted(operation.upstream[index].headers)
      operation.upstream[index].responseHeaders = redacted(operation.upstream[index].responseHeaders)
    }
    return operation
  }

  /// Replaces the values of fields that may contain credentials.
  private static func redacted(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(
      headers.fields.map { field in
        let name = field.name.lowercased()
        let isSecret = secretNames.contains(name) || secretParts.contains { name.contains($0) }
        return isSecret ? .init(name: field.name, value: placeholder) : field
      })
  }
}
