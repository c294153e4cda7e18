internal import CarabinerDigest

/// The place of a node in the order in which nodes get a candidate.
///
/// It is the SHA-256 of candidate and name, so each candidate begins with other nodes, and all nodes agree without a word. Only the first
/// 8 bytes are compared; nodes in which these are alike are ordered by name.
package struct NodeRank: Sendable, Hashable, Comparable {
  /// The place among all possible ones.
  package let place: UInt64
  package let name: String

  package init(_ name: String, for candidate: CandidateID) {
    place = Digest.sha256(Array("\(candidate)\(name)".utf8)).leadingNumber
    self.name = name
  }

  package static func < (one: Self, other: Self) -> Bool {
    one.place == other.place ? one.name < other.name : one.place < other.place
  }
}
