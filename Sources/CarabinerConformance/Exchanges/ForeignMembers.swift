internal import CarabinerWire

/// JSON members that no plugin knows, so that no plugin has a reason to change them.
enum ForeignMembers {
  static let text = #""zqword":"plain","zqlist":["one",{"zqdeep":true},[]],"zqnull":null,"zqempty":{},"zqnumber":-0.50"#
  private static let names = ["zqword", "zqlist", "zqnull", "zqempty", "zqnumber"]

  /// The name of a member that one object has and the other has not, or has changed; nil if there is none.
  static func lost(from before: JSONValue?, to after: JSONValue?) -> String? {
    names.first { before?[$0] != nil && before?[$0] != after?[$0] }
  }
}
