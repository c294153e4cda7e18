import CarabinerRelease
import Testing

/// A statement about a file, and a signature of it that OpenSSH made.
enum SampleRelease {
  static let file = FileIdentity(of: Array("hello\n".utf8))
  static let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8a3fo5bfLJ6cBH5dL0NBbUnpw43CsDzsc1MWdyHydk"
  static let statement = """
    carabiner-release 1
    kind plugin
    name token-auth
    serial 42
    sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
    size 6
    issued 2026-11-22T00:00:00Z
    expires 2027-02-20T00:00:00Z

    """
  static let armor = """
    -----BEGIN SSH SIGNATURE-----
    U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgnxrd+jlt8snpwEfl0vQ0FtSenD
    jcKwPOxzUxZ3IfJ2QAAAARY2FyYWJpbmVyLXJlbGVhc2UAAAAAAAAABnNoYTUxMgAAAFMA
    AAALc3NoLWVkMjU1MTkAAABAUWDM65Yk6LayOavECAEWpCrVR4rF12oO5G3ODM886Nbj+A
    CbMoja/G9mVmX9hTOFm/KYwteq0VKfg+kyBfxhAw==
    -----END SSH SIGNATURE-----

    """
  /// A time at which the statement is valid.
  static let time = ReleaseTime(seconds: 1_796_000_000)

  static func subject(_ text: String = "plugin:token-auth") throws -> ReleaseSubject { try #require(ReleaseSubject(text)) }

  /// A verifier that trusts one key, or the lines.
  static func verifier(
    _ lines: String = "plugin:* \(key)", threshold: Int = 1, revoked: String = ""
  ) throws -> ReleaseVerifier {
    ReleaseVerifier(
      trust: try TrustFile(parsing: Array(lines.utf8)), threshold: threshold,
      revocations: try RevocationList(parsing: Array(revoked.utf8)))
  }

  /// A statement of another serial, file or time.
  static func statement(
    _ subject: String = "plugin:token-auth", serial: Int = 42, file: FileIdentity = file,
    issued: ReleaseTime = time.adding(seconds: -1000), expires: ReleaseTime = time.adding(seconds: 1000)
  ) throws -> ReleaseStatement {
    try ReleaseStatement(subject: self.subject(subject), serial: serial, file: file, issued: issued, expires: expires)
  }
}

/// The code of the error that a call throws; nil if it throws none.
func code(of body: () throws -> Void) throws -> ReleaseError.Code? {
  do {
    try body()
    return nil
  } catch let error as ReleaseError {
    #expect(!error.message.isEmpty)
    return error.code
  }
}
