public import CCarabiner
internal import CarabinerPlugin
internal import Note

/// The entry function of the contract. It must be public, otherwise a release build removes it.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  response_mask_note_is_linked()
  return unsafe PluginExport.table(for: ResponseMask.self, host: host)
}
