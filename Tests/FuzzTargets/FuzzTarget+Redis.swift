internal import CarabinerRESP

extension FuzzTarget {
  /// The answers that were read, independent of the portions of bytes.
  private struct Reading {
    var replies: [Reply] = []
    var error: RESPError?
  }

  /// Small limits, so that inputs can exceed them.
  private static let limits = {
    var limits = RESPLimits()
    (limits.replyBytes, limits.depth, limits.lineBytes, limits.values) = (300, 3, 40, 30)
    return limits
  }()

  func checkReplies(_ bytes: [UInt8]) throws {
    let whole = Self.read(bytes, bytes.count)
    for size in [1, 2, 7] {
      let portions = Self.read(bytes, size)
      try require(portions.replies == whole.replies, "portions of \(size) bytes are read as other answers")
      try require(portions.error == whole.error, "portions of \(size) bytes have another error")
    }
    if let error = whole.error { try require((0...bytes.count).contains(error.offset), "the fault lies beyond the bytes") }
    var length = 0
    for reply in whole.replies {
      length += try size(of: reply, depth: 0)
      try require(reply == reply, "an answer is not equal to itself")
    }
    try require(length <= bytes.count, "the answers have more bytes than came")
  }

  private static func read(_ bytes: [UInt8], _ size: Int) -> Reading {
    var reader = ReplyReader(limits: limits)
    var reading = Reading()
    do throws(RESPError) {
      for place in stride(from: 0, to: bytes.count, by: max(size, 1)) {
        reader.append(bytes[place..<min(place + max(size, 1), bytes.count)])
        while let reply = try reader.next() { reading.replies.append(reply) }
      }
    } catch {
      reading.error = error
    }
    return reading
  }

  /// The least number of bytes of a value.
  private func size(of reply: Reply, depth: Int) throws -> Int {
    var size = 3 + (reply.content?.count ?? 0)
    var count = 0
    for value in reply.values {
      try require(depth < Self.limits.depth, "an answer is deeper than the limit")
      size += try self.size(of: value, depth: depth + 1)
      count += 1
    }
    try require(count == reply.values.count, "an aggregate has another number of values than it says")
    try require(reply.kind != .map || count.isMultiple(of: 2), "a map has a key without a value")
    try require(reply.kind != .push || depth == 0, "a push is inside another answer")
    try require(reply.kind != .double || reply.double != nil, "a double is not a number")
    try require((reply.kind == .error) == (reply.errorText != nil), "an error has no text")
    return size
  }
}
