internal import CarabinerHost

/// What a check of the file alone has: its bytes. They are read in the child, whose memory is limited.
struct FileTrial {
  let notes: TrialNotes
  let path: String
  let bytes: [UInt8]
  let options: TrialOptions

  /// The file as a shared object; a check that cannot go on without it is skipped, for LD01 says what is wrong.
  func object() throws -> SharedObject {
    do {
      return try SharedObject(bytes)
    } catch {
      throw TrialNotes.Skip("the file cannot be read as a shared object; see LD01")
    }
  }
}
