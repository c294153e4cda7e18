import CarabinerWire

/// The result of reading a body: its parts, and the error at the end.
struct MultipartReading: Equatable {
  var parts: [MultipartPart] = []
  var error: MultipartError.Code?

  var bodies: [String] { parts.map { String(decoding: $0.body, as: UTF8.self) } }

  /// Reads these chunks.
  init(
    _ chunks: some Sequence<ArraySlice<UInt8>>, boundary: String, partEnd: MultipartReader.PartEnd = .atLineEnd,
    limits: MultipartLimits = MultipartLimits()
  ) throws {
    var reader = MultipartReader(boundary: try MultipartBoundary(boundary), partEnd: partEnd, limits: limits)
    do throws(MultipartError) {
      for chunk in chunks {
        reader.append(chunk)
        while let part = try reader.next() { parts.append(part) }
      }
      reader.finish()
      while let part = try reader.next() { parts.append(part) }
    } catch {
      self.error = error.code
    }
  }

  /// Reads a whole body.
  init(
    _ text: String, boundary: String = "b", partEnd: MultipartReader.PartEnd = .atLineEnd,
    limits: MultipartLimits = MultipartLimits()
  ) throws {
    try self.init([Array(text.utf8)[...]], boundary: boundary, partEnd: partEnd, limits: limits)
  }

  /// Reads the same body with another algorithm: as a whole, line by line, as in the grammar of RFC 2046.
  init(reference bytes: [UInt8], boundary: String) { error = read(bytes, boundary: boundary) }

  private mutating func read(_ bytes: [UInt8], boundary: String) -> MultipartError.Code? {
    var lines: [(text: [UInt8], content: [UInt8], hasEnd: Bool)] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let line = Array(rest.prefix { $0 != 0x0A })
      rest = rest.dropFirst(line.count)
      let hasEnd = rest.popFirst() != nil
      let content = line.last == 0x0D ? Array(line.dropLast()) : line
      lines.append((line + (hasEnd ? [0x0A] : []), content, hasEnd))
    }
    enum Kind { case text, delimiter, close }
    func kind(_ index: Int) -> Kind {
      var text = String(decoding: lines[index].content, as: UTF8.self)
      var padding = 0
      while text.hasSuffix(" ") || text.hasSuffix("\t") {
        text.removeLast()
        padding += 1
      }
      guard padding <= MultipartLimits.maximumPaddingBytes else { return .text }
      if text == "--\(boundary)--" { return .close }
      return text == "--\(boundary)" && lines[index].hasEnd ? .delimiter : .text
    }
    var index = 0
    while index < lines.count, kind(index) == .text { index += 1 }
    while true {
      guard index < lines.count else { return .truncated }
      if kind(index) == .close { return nil }
      index += 1
      guard index < lines.count else { return .truncated }
      if kind(index) != .text { continue }
      // Headers, up to an empty line.
      var headers: [(String, String)] = []
      while index < lines.count, lines[index].hasEnd, !lines[index].content.isEmpty {
        let line = String(decoding: lines[index].content, as: UTF8.self)
        let pieces = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
          $0.trimmed
        }
        if line.first == " " || line.first == "\t", let last = headers.popLast() {
          headers.append((last.0, "\(last.1) \(Substring(line).trimmed)"))
        } else if pieces.count == 2, !pieces[0].isEmpty, pieces[0].unicodeScalars.allSatisfy({ $0.value > 32 && $0.value < 127 })
        {
          headers.append((pieces[0], pieces[1]))
        } else {
          return .malformedHeader
        }
        index += 1
      }
      guard index < lines.count, lines[index].hasEnd else { return .truncated }
      index += 1
      // The body, up to the line break before a delimiter.
      var body: [UInt8] = []
      while index < lines.count, kind(index) == .text {
        body += lines[index].text
        index += 1
      }
      guard index < lines.count else { return .truncated }
      if body.last == 0x0A { body.removeLast() }
      if body.last == 0x0D { body.removeLast() }
      parts.append(MultipartPart(headers: headers.map { .init(name: $0.0, value: $0.1) }, body: body))
    }
  }
}

extension Substring {
  fileprivate var trimmed: String {
    var text = self
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
