internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// The registration of a plugin, as it is in its memory. Checks of the descriptor read nothing else.
extension LoadingTrial {
  /// Maps the plugin and returns the table of its entry function.
  func table() throws -> UnsafePointer<crb_plugin> {
    let host = unsafe TestHostTable.make(for: "laboratory")
    guard let table = unsafe register(try entry(), host) else {
      throw TrialNotes.Skip("its entry function answers NULL; see LD07")
    }
    return unsafe table
  }

  /// The interceptors of a table; none if its list is NULL.
  func items(of table: UnsafePointer<crb_plugin>) -> [RegisteredItem] {
    let copy = unsafe InterceptorTable.copy(table, crb_plugin())
    guard let list = unsafe copy.items else { return [] }
    var items: [RegisteredItem] = []
    for index in unsafe 0..<Int(min(copy.count, RegistrationReader.maximumInterceptors)) {
      if let item = unsafe list[index] {
        items.append(unsafe RegisteredItem(pointer: item, table: InterceptorTable.copy(item, crb_interceptor())))
      }
    }
    return items
  }

  /// A NUL-terminated text, at most 4 KiB of it; nil if it is absent or not UTF-8.
  func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    var bytes: [UInt8] = []
    while bytes.count < 4096 {
      let byte = unsafe UInt8(bitPattern: pointer[bytes.count])
      if byte == 0 { return String(validating: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }
}

/// An interceptor as the plugin registers it, unchecked.
@safe struct RegisteredItem {
  let pointer: UnsafePointer<crb_interceptor>
  /// A copy up to its size.
  let table: crb_interceptor
}
