internal import CarabinerWire

/// The places of the members of a response that GraphQL defines.
struct ResponseMembers {
  let isObject: Bool
  private(set) var data: Range<Int>?
  private(set) var errors: Range<Int>?
  private(set) var extensions: Range<Int>?
  /// The number of members that repeat a name.
  let duplicates: Int

  /// The members of an object of any kind.
  init(_ members: JSONMembers) {
    isObject = members.isObject
    data = members.range(of: "data")
    errors = members.range(of: "errors")
    extensions = members.range(of: "extensions")
    duplicates = members.duplicates
  }

  /// Finds the members without a list of all names.
  ///
  /// Nil if a name is repeated, has escapes, or is not one of those of GraphQL.
  init?(_ tape: JSONTape, in bytes: Span<UInt8>) {
    guard tape.isObject else { return nil }
    isObject = true
    duplicates = 0
    let entries = tape.entries.span
    var place = 1
    while place < entries.count {
      let (name, value) = (entries[place], entries[place + 1])
      guard case .string = name.kind else { return nil }
      let text = bytes.extracting(Int(name.start)..<Int(name.end))
      if data == nil, "data".hasBytes(text) {
        data = value.range
      } else if errors == nil, "errors".hasBytes(text) {
        errors = value.range
      } else if extensions == nil, "extensions".hasBytes(text) {
        extensions = value.range
      } else {
        return nil
      }
      place = Int(value.next)
    }
  }
}
