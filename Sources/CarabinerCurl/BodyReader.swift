internal import CCurl
internal import Carabiner
internal import FoundationEssentials
internal import Glibc

/// Reads a segmented body in order, with one file open at a time. Used only on the event loop's thread.
///
/// Files are read in libcurl's callback, when it can send more bytes.
final class BodyReader {
  private let segments: [SegmentedBody.Segment]
  private let url: String
  private var index = 0
  /// The number of bytes read from the current segment.
  private var offset = 0
  private var file: RegularFile?
  /// The error that stopped reading; nil if there is none.
  private(set) var failure: TransportError?

  /// Creates a reader at the beginning of a body.
  ///
  /// - Throws: ``Carabiner/TransportError`` before anything is sent, if a file cannot be read or its length has changed.
  init(_ body: SegmentedBody, url: String) throws(TransportError) {
    segments = body.segments
    self.url = url
    for case .file(let path, let length) in segments { _ = try RegularFile(path, length: length, url: url) }
  }

  /// Fills a buffer.
  ///
  /// - Returns: The number of bytes read, 0 at the end; `CURL_READFUNC_ABORT` if there is a ``failure``.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    do throws(TransportError) {
      var count = 0
      while count < buffer.count, index < segments.count {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        count += unsafe try readSegment(into: room)
      }
      return count
    } catch {
      failure = error
      file = nil
      return Int(CURL_READFUNC_ABORT)
    }
  }

  private func readSegment(into room: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
    let segment = segments[index]
    let wanted = min(room.count, segment.length - offset)
    var count = wanted
    switch segment {
    case .data(let data):
      let start = data.startIndex + offset
      unsafe data.copyBytes(to: room, from: start..<(start + wanted))
    case .file(let path, let length):
      let file = try opened(path, length)
      if wanted > 0 { count = unsafe try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted])) }
      if offset + count == length { try file.checkLength() }
    }
    offset += count
    if offset == segment.length {
      index += 1
      offset = 0
      file = nil
    }
    return count
  }

  private func opened(_ path: String, _ length: Int) throws(TransportError) -> RegularFile {
    if let file { return file }
    let opened = try RegularFile(path, length: length, url: url)
    file = opened
    return opened
  }
}

/// An open file whose length must not change.
private final class RegularFile {
  private let descriptor: Int32
  private let path: String
  private let length: Int
  private let url: String

  init(_ path: String, length: Int, url: String) throws(TransportError) {
    self.path = path
    self.length = length
    self.url = url
    // Opening a pipe without a writer must not block.
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadable(SystemFailure.text(errno)) }
    try checkLength()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
    while true {
      let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return count }
      if count == 0 { throw changed("it is shorter now") }
      if errno != EINTR { throw unreadable(SystemFailure.text(errno)) }
    }
  }

  /// Checks that the file is still a regular file of the same length.
  func checkLength() throws(TransportError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(SystemFailure.text(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable("it is not a regular file") }
    guard status.st_size == length else { throw changed("it has \(status.st_size) now") }
  }

  private func unreadable(_ reason: String) -> TransportError {
    TransportError(
      .fileUnreadable, "the file \(path) cannot be read: \(reason); check the path and its permissions", url: url)
  }

  private func changed(_ fact: String) -> TransportError {
    TransportError(
      .fileChanged,
      "the file \(path) had \(length) bytes when the request was made, and \(fact); send a copy that does not change", url: url,
      mayHaveBeenSent: true)
  }
}
