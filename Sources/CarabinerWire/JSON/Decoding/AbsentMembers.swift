/// The values of members of objects that are not in their text.
package protocol AbsentMembers: AnyObject {
  /// Whether members are there that a server may leave out.
  var includesConditional: Bool { get }

  /// The value of a member.
  ///
  /// - Throws: An error of the source if it has no such member.
  func member(_ name: String, of object: JSONTapeDecoder) throws -> JSONTapeDecoder
}
