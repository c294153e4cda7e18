internal import CCarabiner
internal import CarabinerHost
internal import Glibc

/// What a check has that loads the plugin itself.
struct LoadingTrial {
  let notes: TrialNotes
  /// A private copy of the plugin.
  let path: String
  let bytes: [UInt8]
  let options: TrialOptions

  typealias Entry = @convention(c) (UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>?

  /// Maps the plugin and finds its entry function; a check that cannot go on without is skipped, for LD03 says what is wrong.
  func entry(of path: String? = nil) throws -> Entry {
    LaboratoryRecord.note("loading", inHook: false)
    Laboratory.current.enter("a constructor")
    defer { Laboratory.current.leave() }
    guard let handle = unsafe dlopen(path ?? self.path, RTLD_NOW | Int32(RTLD_LOCAL) | RTLD_NODELETE) else {
      throw TrialNotes.Skip("it cannot be loaded; see LD03")
    }
    guard let symbol = unsafe dlsym(handle, "crb_entry_v1") else {
      throw TrialNotes.Skip("it does not export crb_entry_v1; see SY01")
    }
    return unsafe unsafeBitCast(symbol, to: Entry.self)
  }

  /// Calls an entry function with a host's table.
  func register(_ entry: Entry, _ host: UnsafePointer<crb_host>) -> UnsafePointer<crb_plugin>? {
    Laboratory.current.enter("crb_entry_v1")
    defer { Laboratory.current.leave() }
    return unsafe entry(host)
  }

  /// Maps the plugin, registers it with an ordinary host and reads what it registers.
  func library() throws -> LaboratoryLibrary {
    let host = unsafe LaboratoryTable.make(for: "laboratory")
    guard let table = unsafe register(try entry(), host) else {
      throw TrialNotes.Skip("its entry function answers NULL; see LD07")
    }
    return try unsafe LaboratoryLibrary(table, host: host, path: path, bytes: bytes)
  }
}
