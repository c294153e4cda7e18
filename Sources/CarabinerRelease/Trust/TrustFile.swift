/// The keys that an operator trusts, in the form of OpenSSH's `allowed_signers`.
///
/// A line has patterns of principals, options if there are any, and a key. A principal is a ``ReleaseSubject``. Every line must be
/// understood: a line that is skipped could be the one that limits a key.
package struct TrustFile: Sendable, Hashable {
  /// The largest file, 256 KiB.
  package static let maximumBytes = 256 << 10
  private static let maximumLineBytes = 8 << 10

  package let keys: [TrustedKey]

  /// Reads a trust file.
  ///
  /// - Parameter name: The name of the file in messages.
  /// - Throws: ``ReleaseError`` with the number of the first line that is wrong.
  package init(parsing bytes: [UInt8], name: String = "the trust file") throws(ReleaseError) {
    guard bytes.count <= Self.maximumBytes else {
      throw ReleaseError(.invalidFile, "\(name) has more than \(Self.maximumBytes) bytes; is it the right file?")
    }
    var keys: [TrustedKey] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      do throws(TrustFault) {
        if let key = try Self.key(line, number: index + 1) { keys.append(key) }
      } catch {
        throw ReleaseError(.invalidFile, "line \(index + 1) of \(name) cannot be used: \(error.message)")
      }
    }
    guard !keys.isEmpty else {
      throw ReleaseError(
        .invalidFile, "\(name) has no keys; add a line such as plugin:* namespaces=\"\(SSHSignature.namespace)\" ssh-ed25519 KEY")
    }
    self.keys = keys
  }

  /// The first line that allows a key to sign for a subject at a time.
  package func line(for key: SSHPublicKey, _ subject: ReleaseSubject, at time: ReleaseTime) -> TrustedKey? {
    keys.first { $0.key == key && $0.allows(subject, at: time) }
  }

  /// The key of a line; nil for an empty line and a comment.
  private static func key(_ line: ArraySlice<UInt8>, number: Int) throws(TrustFault) -> TrustedKey? {
    guard line.count <= maximumLineBytes else { throw TrustFault("it has more than \(maximumLineBytes) bytes") }
    guard !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
      throw TrustFault("it has a byte 0 or a carriage return; lines end with LF")
    }
    var words = TrustWords(line)
    guard let principals = words.next(), principals.first != UInt8(ascii: "#") else { return nil }
    guard principals.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }) else {
      throw TrustFault("the principals have a quote, or a character that is not ASCII; write patterns such as plugin:*")
    }
    var options = TrustOptions()
    var method = words.next()
    if let word = method, !isMethod(word) {
      options = try TrustOptions(word)
      method = words.next()
    }
    guard let method, let text = words.next() else {
      throw TrustFault("a key is missing; write PRINCIPALS OPTIONS ssh-ed25519 KEY")
    }
    let methodName = String(decoding: method, as: UTF8.self)
    guard SSHPublicKey.Method(rawValue: methodName) != nil else {
      throw TrustFault(
        "keys of the type \(methodName.prefix(64).debugDescription) are not supported; use ssh-ed25519 or ecdsa-sha2-nistp256")
    }
    guard let form = Base64Text.decoded(text), let key = SSHPublicKey(form), key.method.rawValue == methodName else {
      throw TrustFault("the key is malformed; copy the two words of the .pub file")
    }
    return TrustedKey(key: key, principals: String(decoding: principals, as: UTF8.self), options: options, line: number)
  }

  /// Whether a word is the type of a key, supported or not, and not an option.
  private static func isMethod(_ word: ArraySlice<UInt8>) -> Bool {
    ["ssh-", "ecdsa-", "sk-", "rsa-"].contains { word.starts(with: $0.utf8) }
  }
}
