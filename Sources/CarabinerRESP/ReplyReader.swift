/// Reads answers of Redis from bytes in any portions, in RESP2 and RESP3, without input or output.
///
/// ```swift
/// reader.append(bytes)
/// while let reply = try reader.next() { … }
/// ```
///
/// Attributes are read and left out, because no command that Carabiner sends asks for them. The streamed types of RESP3, which Redis
/// does not send, are an error. Nothing is reserved for a declared length before its bytes came.
package struct ReplyReader: Sendable {
  /// An aggregate whose values are being read.
  private struct Level {
    /// The number of values that it still needs.
    var missing: Int
    let node: Int
    let isAttribute: Bool
  }

  /// A text of a declared length whose bytes have not all come.
  private struct Text {
    let kind: Reply.Kind
    let length: Int
  }

  /// A buffer that is larger is released when all of it was read.
  private static let keptCapacity = 256 << 10

  private let limits: RESPLimits
  private var buffer: [UInt8] = []
  /// The number of bytes of the connection before the buffer.
  private var earlier = 0
  /// The first byte of the answer that is being read, and the first one that was not read.
  private var start = 0
  private var position = 0
  /// The first byte that was not searched for the end of a line.
  private var searched = 0
  private var text: Text?
  private var levels: [Level] = []
  private var nodes: [Reply.Node] = []
  /// The number of values of this answer so far, with those that aggregates declare.
  private var declared = 0
  private var failure: RESPError?

  /// Creates a reader for the bytes of one connection.
  package init(limits: RESPLimits = RESPLimits()) {
    var limits = limits
    // Places are kept in 32 bits.
    limits.replyBytes = min(limits.replyBytes, Int(UInt32.max) / 2)
    limits.values = min(limits.values, Int(UInt32.max) / 2)
    self.limits = limits
  }

  /// Whether an answer has begun and is not complete.
  package var isInsideReply: Bool { position > start || buffer.count > position }

  /// Adds bytes that came.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0, start == buffer.count || start > buffer.count / 2 { discardRead() }
    buffer.append(contentsOf: bytes)
  }

  private mutating func discardRead() {
    earlier += start
    if start < buffer.count {
      buffer.removeFirst(start)
    } else {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
    }
    position -= start
    searched -= start
    start = 0
  }

  /// The next answer or push; nil if more bytes are needed.
  ///
  /// - Throws: ``RESPError``, also from all later calls. The connection must be closed.
  package mutating func next() throws(RESPError) -> Reply? {
    if let failure { throw failure }
    do throws(RESPError) {
      return try readOn()
    } catch {
      failure = error
      (buffer, nodes, levels) = ([], [], [])
      throw error
    }
  }

  private mutating func readOn() throws(RESPError) -> Reply? {
    while true {
      let isValue: Bool
      if let text {
        guard try readText(text) else { return nil }
        isValue = true
      } else {
        guard let end = try lineEnd() else { return nil }
        let (type, line) = (buffer[position], position + 1..<end)
        isValue = try read(type, line)
        (position, searched) = (end + 2, end + 2)
        guard position - start <= limits.replyBytes else { throw tooManyBytes() }
      }
      if isValue, endValue() { return takeReply() }
    }
  }

  // MARK: Lines and texts

  /// The index of the CR LF of the line at the position; nil if it has not come.
  private mutating func lineEnd() throws(RESPError) -> Int? {
    guard position < buffer.count else { return nil }
    // The first byte shows another protocol, even if no line end arrives.
    if searched <= position {
      guard Self.isType(buffer[position]) else {
        throw fault(
          .unknownType,
          "0x\(String(buffer[position], radix: 16)) begins no type of RESP; check that the server is Redis and that both sides use TLS"
        )
      }
      searched = position + 1
    }
    while searched < buffer.count {
      guard searched - position - 1 <= limits.lineBytes else {
        throw fault(.lineTooLong, "a line has more than \(limits.lineBytes) bytes; check that the server is Redis")
      }
      switch buffer[searched] {
      case 0x0D:
        guard searched + 1 < buffer.count else { return nil }
        guard buffer[searched + 1] == 0x0A else { throw malformed("a line has a CR in it") }
        return searched
      case 0x0A: throw malformed("a line has a LF in it")
      default: searched += 1
      }
    }
    return nil
  }

  private static func isType(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x2B, 0x2D, 0x3A, 0x24, 0x2A, 0x5F, 0x23, 0x2C, 0x28, 0x21, 0x3D, 0x25, 0x7E, 0x7C, 0x3E: true
    default: false
    }
  }

  /// Reads a text whose length is known. Returns false if it has not come whole.
  private mutating func readText(_ text: Text) throws(RESPError) -> Bool {
    let end = position + text.length
    if end < buffer.count, buffer[end] != 0x0D { throw textEnd() }
    guard end + 1 < buffer.count else { return false }
    guard buffer[end + 1] == 0x0A else { throw textEnd() }
    var first = position
    if text.kind == .verbatim {
      guard text.length >= 4, buffer[position + 3] == 0x3A else {
        throw fault(.malformedText, "a verbatim text does not begin with three letters and a colon")
      }
      first += 4
    }
    nodes.append(Reply.Node(kind: text.kind, count: UInt32(end - first), value: first - start))
    (position, searched, self.text) = (end + 2, end + 2, nil)
    return true
  }

  private func textEnd() -> RESPError { fault(.malformedText, "a text does not end where its length says") }

  // MARK: Types

  /// Reads a line. Returns whether it is a whole value, which the begin of a text or of an aggregate is not.
  private mutating func read(_ type: UInt8, _ line: Range<Int>) throws(RESPError) -> Bool {
    switch type {
    case 0x2B: addLine(.status, line)
    case 0x2D: addLine(.error, line)
    case 0x3A: add(.integer, try number(line) { line throws(NumberLine.Fault) in try line.integer() })
    case 0x5F:
      guard line.isEmpty else { throw malformed("a null has a value") }
      add(.null, 0)
    case 0x23:
      guard line.count == 1, buffer[line.lowerBound] == 0x74 || buffer[line.lowerBound] == 0x66 else {
        throw malformed("a boolean is not t or f")
      }
      add(.boolean, buffer[line.lowerBound] == 0x74 ? 1 : 0)
    case 0x2C:
      guard NumberLine(buffer[line]).isDouble else { throw malformed("a double is not a number") }
      addLine(.double, line)
    case 0x28:
      guard NumberLine(buffer[line]).isBigNumber else { throw malformed("a big number is not an integer") }
      addLine(.bigNumber, line)
    case 0x24: return try beginText(.text, line)
    case 0x21: return try beginText(.error, line)
    case 0x3D: return try beginText(.verbatim, line)
    default: return try beginAggregate(type, line)
    }
    return true
  }

  private mutating func add(_ kind: Reply.Kind, _ value: Int) { nodes.append(Reply.Node(kind: kind, count: 0, value: value)) }

  private mutating func addLine(_ kind: Reply.Kind, _ line: Range<Int>) {
    nodes.append(Reply.Node(kind: kind, count: UInt32(line.count), value: line.lowerBound - start))
  }

  private mutating func beginText(_ kind: Reply.Kind, _ line: Range<Int>) throws(RESPError) -> Bool {
    guard let length = try length(line) else {
      guard kind == .text else { throw malformed("only texts and arrays have the length -1") }
      add(.null, 0)
      return true
    }
    // The text, the end of its length and its own end.
    guard line.upperBound + 2 - start + length + 2 <= limits.replyBytes else { throw tooManyBytes() }
    text = Text(kind: kind, length: length)
    return false
  }

  private mutating func beginAggregate(_ type: UInt8, _ line: Range<Int>) throws(RESPError) -> Bool {
    guard let length = try length(line) else {
      guard type == 0x2A else { throw malformed("only texts and arrays have the length -1") }
      add(.null, 0)
      return true
    }
    let isAttribute = type == 0x7C
    guard type != 0x3E || levels.isEmpty && nodes.isEmpty else { throw fault(.misplaced, "a push is inside another answer") }
    guard type != 0x3E || length > 0 else { throw malformed("a push has no type") }
    guard levels.count < limits.depth else {
      throw fault(.tooDeep, "the answer has more than \(limits.depth) levels; check which key has such data")
    }
    let count = isAttribute || type == 0x25 ? length * 2 : length
    declared += count
    guard declared <= limits.values else {
      throw fault(.tooLarge, "the answer has more than \(limits.values) values; ask for fewer at once")
    }
    let kind: Reply.Kind =
      switch type {
      case 0x2A: .array
      case 0x7E: .set
      case 0x3E: .push
      default: .map
      }
    nodes.append(Reply.Node(kind: kind, count: UInt32(count), value: nodes.count + 1))
    levels.append(Level(missing: count, node: nodes.count - 1, isAttribute: isAttribute))
    guard count == 0 else { return false }
    return endLevel()
  }

  // MARK: Ends

  /// Counts a value in the aggregates around it. Returns whether the answer is complete.
  private mutating func endValue() -> Bool {
    while let last = levels.indices.last {
      levels[last].missing -= 1
      guard levels[last].missing == 0 else { return false }
      guard endLevel() else { return false }
    }
    return true
  }

  /// Ends the innermost aggregate. Returns whether it is a value, which an attribute is not.
  private mutating func endLevel() -> Bool {
    guard let level = levels.popLast() else { return true }
    if level.isAttribute {
      nodes.removeLast(nodes.count - level.node)
      return false
    }
    nodes[level.node].value = nodes.count
    return true
  }

  private mutating func takeReply() -> Reply {
    let nodes = nodes
    // A new array: the answer keeps this one.
    self.nodes = []
    declared = 0
    defer { start = position }
    guard start == 0, position == buffer.count else { return Reply(bytes: Array(buffer[start..<position]), nodes: nodes) }
    let bytes = buffer
    buffer = []
    earlier += position
    (position, searched) = (0, 0)
    return Reply(bytes: bytes, nodes: nodes)
  }

  // MARK: Numbers

  /// A length or a number of values; nil for -1.
  private func length(_ line: Range<Int>) throws(RESPError) -> Int? {
    try number(line) { line throws(NumberLine.Fault) in try line.length() }
  }

  private func number<Value>(
    _ line: Range<Int>, _ read: (NumberLine) throws(NumberLine.Fault) -> Value
  ) throws(RESPError) -> Value {
    do throws(NumberLine.Fault) {
      return try read(NumberLine(buffer[line]))
    } catch {
      switch error {
      case .malformed(let reason): throw malformed("\(reason)")
      case .streamed: throw fault(.misplaced, "streamed types are not supported; check that the server is Redis or Valkey")
      case .tooLarge: throw tooManyBytes()
      }
    }
  }

  // MARK: Errors

  private func malformed(_ reason: String) -> RESPError { fault(.malformedLine, "\(reason); check that the server is Redis") }

  private func tooManyBytes() -> RESPError {
    fault(.tooLarge, "the answer has more than \(limits.replyBytes) bytes; ask for fewer fields at once")
  }

  private func fault(_ code: RESPError.Code, _ reason: String) -> RESPError {
    RESPError(code: code, reason: reason, offset: earlier + position)
  }
}
