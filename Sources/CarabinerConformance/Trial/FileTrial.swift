internal import CarabinerBridge

/// The context of a check of the file alone: its bytes. The child reads them, because its memory is limited.
struct FileTrial {
  let notes: TrialNotes
  let path: String
  let bytes: [UInt8]
  let options: TrialOptions

  /// The file as a shared object. If it is not one, the check is skipped, and LD01 reports why.
  func object() throws -> SharedObject {
    do {
      return try SharedObject(bytes)
    } catch {
      throw TrialNotes.Skip("the file cannot be read as a shared object; see LD01")
    }
  }
}
