public import CCarabiner
internal import CarabinerPlugin
internal import Note

/// The only exported symbol of the contract. It must be public: otherwise a release build removes it.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  kit_note_is_linked()
  return unsafe PluginExport.table(for: Kit.self, Second.self, host: host)
}
