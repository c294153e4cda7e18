/// The header `tracestate` of W3C Trace Context: data of other tracing systems. It is passed on unchanged.
package struct TraceState: Sendable, Hashable {
  /// The field's name.
  package static let fieldName = "tracestate"
  /// The maximal number of entries, as in the standard.
  static let maximumMembers = 32
  /// The maximal size that is passed on, in bytes: the minimum that the standard requires. Long entries are dropped first, then
  /// the last ones.
  static let maximumBytes = 512
  /// The length from which an entry counts as long, in bytes.
  static let longMemberBytes = 128

  /// The field's value; never empty.
  package let text: String

  /// Parses the values of all headers of this name; nil if they are empty, or if an entry is malformed.
  package init?(_ fields: [String]) {
    var members: [Substring] = []
    for field in fields {
      for member in field.split(separator: ",", omittingEmptySubsequences: true) {
        let member = member.trimming { $0 == " " || $0 == "\t" }
        if member.isEmpty { continue }
        guard Self.isWellFormed(member) else { return nil }
        members.append(member)
      }
    }
    guard !members.isEmpty, members.count <= Self.maximumMembers else { return nil }
    func size() -> Int { members.reduce(members.count - 1) { $0 + $1.utf8.count } }
    while size() > Self.maximumBytes, let long = members.lastIndex(where: { $0.utf8.count > Self.longMemberBytes }) {
      members.remove(at: long)
    }
    while size() > Self.maximumBytes { members.removeLast() }
    guard !members.isEmpty else { return nil }
    text = members.joined(separator: ",")
  }

  /// A key of lower-case letters, digits and a few signs, and a value of visible characters and spaces.
  private static func isWellFormed(_ member: Substring) -> Bool {
    guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
    let key = member.utf8[..<equals]
    let value = member.utf8[equals...].dropFirst()
    let isKey =
      (1...256).contains(key.count)
      && key.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "_-*/@".utf8.contains($0)
        }
      }
    return isKey && (1...256).contains(value.count)
      && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
  }
}

extension Substring {
  fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    var trimmed = drop(while: isTrimmed)
    while let last = trimmed.last, isTrimmed(last) { trimmed.removeLast() }
    return trimmed
  }
}
