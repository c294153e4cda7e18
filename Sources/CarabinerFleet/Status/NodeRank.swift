internal import CarabinerDigest

/// The place of a node in the order in which nodes get a candidate.
///
/// It is the SHA-256 of candidate and name. Each candidate begins with other nodes, and all nodes compute the same order without
/// communication. Only the first 8 bytes are compared; if they are equal, the names are compared.
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
