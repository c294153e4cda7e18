/// A plugin's own pointer on its way back to the plugin.
@safe struct CallbackContext: @unchecked Sendable {
  // The host never dereferences it. The plugin promised that its callback may run on any thread.

  let pointer: UnsafeMutableRawPointer?

  init(_ pointer: UnsafeMutableRawPointer?) { unsafe self.pointer = unsafe pointer }
}
