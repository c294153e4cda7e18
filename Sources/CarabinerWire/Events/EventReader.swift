/// Parses an event stream (WHATWG HTML, 9.2.6) incrementally.
///
/// Add received bytes with ``append(_:)``, and call ``next()`` until it returns nil. The events do not depend on how the bytes are
/// divided into chunks. Parsing takes linear time, and the reader holds one event in memory.
///
/// Lines end with CRLF, LF or CR. Comments, which servers send as pings, and the fields `id` and `retry` are skipped. An event without
/// the empty line after it is not complete, so it is dropped at the end of the stream.
public struct EventReader: Sendable {
  private let limit: Int
  /// The bytes that are received and not consumed.
  private var buffer: [UInt8] = []
  /// The beginning of the current line.
  private var lineStart = 0
  /// The place from which the buffer has not been searched for the end of the line.
  private var scanned = 0
  /// Whether the last line ended with a carriage return, so that a line feed that follows belongs to it.
  private var skipsLineFeed = false
  /// Whether no line has been read. The first one may begin with a byte order mark.
  private var isFirst = true
  private var type = ""
  private var data: [UInt8] = []
  private var hasData = false

  /// - Parameter maximumEventBytes: The maximum size of an event, and of a line.
  public init(maximumEventBytes: Int) { limit = max(1, maximumEventBytes) }

  /// Adds received bytes.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    // The buffer is moved only when most of it is consumed, so that each byte is moved once on average.
    if lineStart >= buffer.count - lineStart {
      buffer.removeSubrange(..<lineStart)
      scanned -= lineStart
      lineStart = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next event; nil if more bytes are needed.
  public mutating func next() throws(EventTooLarge) -> StreamedEvent? {
    while let line = try nextLine() {
      guard !line.isEmpty else {
        if let event = takeEvent() { return event }
        continue
      }
      try take(line)
    }
    return nil
  }

  /// The next line without its end; nil if it has not arrived completely.
  private mutating func nextLine() throws(EventTooLarge) -> ArraySlice<UInt8>? {
    if skipsLineFeed, lineStart < buffer.count {
      if buffer[lineStart] == 0x0A { lineStart += 1 }
      scanned = max(scanned, lineStart)
      skipsLineFeed = false
    }
    while scanned < buffer.count, buffer[scanned] != 0x0A, buffer[scanned] != 0x0D { scanned += 1 }
    guard scanned - lineStart <= limit else { throw EventTooLarge(limit: limit) }
    guard scanned < buffer.count else { return nil }
    var line = buffer[lineStart..<scanned]
    skipsLineFeed = buffer[scanned] == 0x0D
    scanned += 1
    lineStart = scanned
    if isFirst {
      isFirst = false
      if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    }
    return line
  }

  private mutating func take(_ line: ArraySlice<UInt8>) throws(EventTooLarge) {
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    var value = line[name.endIndex...].dropFirst()
    if value.first == 0x20 { value = value.dropFirst() }
    if name.elementsEqual("data".utf8) {
      guard data.count + value.count < limit else { throw EventTooLarge(limit: limit) }
      if hasData { data.append(0x0A) }
      data.append(contentsOf: value)
      hasData = true
    } else if name.elementsEqual("event".utf8) {
      type = String(decoding: value, as: UTF8.self)
    }
  }

  /// The event that an empty line ends.
  ///
  /// Browsers drop events without a field `data`. Some servers leave it out in `complete`, so an event with a type is enough here.
  private mutating func takeEvent() -> StreamedEvent? {
    defer {
      type = ""
      data = []
      hasData = false
    }
    guard hasData || !type.isEmpty else { return nil }
    return StreamedEvent(type: type.isEmpty ? StreamedEvent.unnamed : type, data: data)
  }
}
