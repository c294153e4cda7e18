/// A file that was accepted: what its publisher says, and the lines of the trust file that allow the keys.
package struct VerifiedRelease: Sendable, Hashable {
  package let statement: ReleaseStatement
  /// One for each key that counted.
  package let signers: [TrustedKey]
}
