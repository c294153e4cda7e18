public import CCarabiner
internal import CarabinerPlugin
internal import Note

/// The only symbol that a plugin exports. It must be public; a release build removes it otherwise.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  note_is_linked()
  return unsafe PluginExport.table(for: Interceptor.self, host: host)
}
