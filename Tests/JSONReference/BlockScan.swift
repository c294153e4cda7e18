internal import CJSON
package import CarabinerWire

/// The code of `CJSON` for a kind of processor.
package enum BlockScan: CaseIterable, Sendable {
  case best
  case portable

  /// How this code and the check byte by byte differ for a text; nil if they agree.
  package func difference(
    of text: UnsafeBufferPointer<UInt8>, limits: JSONLimits = JSONLimits()
  ) -> String? {
    let (tape, found) = unsafe (tape(of: text, limits), members(of: text, limits))
    let bytes = unsafe Array(text)
    if let fault = JSONScanner(limits: limits).fault(in: bytes.span) {
      return tape == nil && found == nil ? nil : "accepted, although \(fault)"
    }
    guard let tape, let found else { return "refused" }
    let reference = ReferenceTape(bytes)
    if tape != reference.entries { return "the tape is \(tape), not \(reference.entries)" }
    let members = found.members.map { ($0.nameStart..<$0.nameEnd, $0.valueStart..<$0.valueEnd) }
    let isSame = members.count == reference.members.count && zip(members, reference.members).allSatisfy { $0 == $1 }
    return isSame && found.isObject == reference.isObject ? nil : "the members are \(members), not \(reference.members)"
  }

  private static let kinds: [JSONTape.Kind] = [.null, .scalar, .string, .escapedString, .object, .array]

  /// The entries of a tape; nil if the text is refused. The memory around the entries must not be written.
  private func tape(of text: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits) -> [ReferenceTape.Entry]? {
    let most = unsafe (self == .best ? CJSON_mostEntries : CJSON_mostEntries_portable)(text.baseAddress, text.count)
    let record = unsafe self == .best ? CJSON_record : CJSON_record_portable
    let mark = CJSON_entry(kind: 0x5A, start: -1, end: -2, next: -3)
    var room = [CJSON_entry](repeating: mark, count: most + 2)
    let count = unsafe room.withUnsafeMutableBufferPointer { room in
      unsafe record(text.baseAddress, text.count, limits.maximumDepth, room.baseAddress.map { unsafe $0 + 1 }, most)
    }
    for edge in [room[0], room[most + 1]] {
      precondition(edge.kind == mark.kind && edge.end == mark.end && edge.next == mark.next, "a write beside the tape")
    }
    return count < 0
      ? nil
      : room[1...count].map {
        ReferenceTape.Entry(kind: Self.kinds[Int($0.kind)], start: Int($0.start), end: Int($0.end), next: Int($0.next))
      }
  }

  private func members(
    of text: UnsafeBufferPointer<UInt8>, _ limits: JSONLimits
  ) -> (isObject: Bool, members: [CJSON_member])? {
    let locate = unsafe self == .best ? CJSON_locate : CJSON_locate_portable
    var members: [CJSON_member] = []
    let kind = unsafe withUnsafeMutablePointer(to: &members) { members in
      unsafe locate(
        text.baseAddress, text.count, limits.maximumDepth,
        { members, member in unsafe members?.assumingMemoryBound(to: [CJSON_member].self).pointee.append(member) }, members)
    }
    return kind < 0 ? nil : (kind == 1, members)
  }
}
