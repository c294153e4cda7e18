internal import CCarabiner
internal import Synchronization

/// Makes the instances of a library's one plugin type.
@safe final class PluginFactory: @unchecked Sendable {
  // Immutable; the table of host functions is the host's static data.

  private let make: @Sendable (PluginConfiguration, PluginHost) throws -> any Plugin
  private let host: UnsafePointer<crb_host>

  private static let registered = Mutex<PluginFactory?>(nil)

  init<P: Plugin>(_ type: P.Type, _ host: UnsafePointer<crb_host>) {
    make = { try type.init(configuration: $0, host: $1) }
    unsafe self.host = unsafe host
  }

  static func register(_ factory: PluginFactory) { registered.withLock { $0 = factory } }

  static func create(
    _ info: crb_create_info, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ why: UnsafeMutablePointer<crb_error>?
  ) -> crb_status {
    guard let factory = registered.withLock({ $0 }) else { return crb_status(CRB_E_INTERNAL) }
    let host = unsafe PluginHost(factory.host, info.`self`)
    do {
      let plugin = unsafe try factory.make(
        PluginConfiguration(entryName: info.entry_name.text, json: info.config_json.text), host)
      unsafe instance.pointee = unsafe Unmanaged.passRetained(PluginBox(plugin, host)).toOpaque()
      return crb_status(CRB_OK)
    } catch {
      unsafe RefusalText.tell(error, why)
      return crb_status(CRB_E_INVAL)
    }
  }
}
