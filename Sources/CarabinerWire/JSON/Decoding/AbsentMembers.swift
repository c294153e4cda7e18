/// A source of members that the texts of objects lack, for example those of mocks.
package protocol AbsentMembers: AnyObject {
  /// Whether the source has the members that a server may leave out.
  var includesConditional: Bool { get }

  /// The value of a member.
  ///
  /// - Throws: An error of the source if it has no such member.
  func member(_ name: String, of object: JSONTapeDecoder) throws -> JSONTapeDecoder
}
