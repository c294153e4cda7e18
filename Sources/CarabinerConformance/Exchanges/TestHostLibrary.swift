internal import CCarabiner
internal import CarabinerBridge

/// A plugin's library in the test host, registered and initialized.
@safe struct TestHostLibrary {
  let interceptors: [PluginInterceptor]
  let table: UnsafePointer<crb_plugin>
  let host: UnsafePointer<crb_host>

  init(_ table: UnsafePointer<crb_plugin>, host: UnsafePointer<crb_host>, path: String, bytes: [UInt8]) throws {
    unsafe self.table = unsafe table
    unsafe self.host = unsafe host
    do {
      let note = try PluginNote(of: try ELFImage(bytes), path: path)
      let reader = unsafe RegistrationReader(table, path: path)
      interceptors = try reader.interceptors(note: note)
      TestHost.current.enter("init")
      defer { TestHost.current.leave() }
      try unsafe reader.initialize(host: host)
    } catch {
      throw TrialNotes.Skip("its registration cannot be used; see LD02 and DS01: \(error)")
    }
  }
}
