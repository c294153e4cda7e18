internal import Carabiner
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Dispatch
internal import Foundation
internal import Logging
internal import Synchronization

/// Writes operations into a file, one a line, on a thread of its own.
final class Recorder: Sendable {
  /// How many operations may wait to be written; when the disk is slower, some are left out.
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

  /// How many operations were left out because the disk is slow, or the file as long as it may be.
  var leftOut: Int { state.withLock(\.leftOut) }

  /// Makes the file, for its owner alone; one that is there is kept under another name.
  // What can fail is done before there is an object: the optimiser of Swift 6.3 cannot take back one that has a mutex already.
  convenience init(path: String, maximumBytes: Int, output: HostOutput) throws {
    try KeptRecords.moveUp(path)
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw ServerError.invalid(
        unsafe "the record \(path) cannot be made: \(String(cString: strerror(errno))); --record takes a file in a folder that may be written"
      )
    }
    self.init(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), maximumBytes: maximumBytes, output: output)
  }

  private init(_ file: FileHandle, maximumBytes: Int, output: HostOutput) {
    self.file = file
    self.maximumBytes = maximumBytes
    self.output = output
  }

  /// Writes an operation down, soon.
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

  /// Returns when all that was taken is on its way to the disk.
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
      if isLast { output.logger.warning("the record is as long as it may be and ends here; --record-limit allows more") }
      return
    }
    do {
      try file.write(contentsOf: line)
    } catch {
      state.withLock { $0.isFull = true }
      output.logger.error("the record cannot be written any more: \(error)")
    }
  }

  // MARK: What is not written

  /// What stands in place of a value.
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

  /// The values of fields that tell who somebody is are left out, whatever they say.
  private static func redacted(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(
      headers.fields.map { field in
        let name = field.name.lowercased()
        let isSecret = secretNames.contains(name) || secretParts.contains { name.contains($0) }
        return isSecret ? .init(name: field.name, value: placeholder) : field
      })
  }
}
