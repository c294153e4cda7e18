internal import CCarabiner

/// Converts between the pointers of the C interface and the methods of a plugin.
enum Hooks {
  typealias Word = UnsafeMutableRawPointer?

  /// Runs a hook and returns its verdict. An error that it throws fails the call.
  static func run(_ instance: Word, _ call: crb_call, _ hook: (PluginBox, CallCore) throws -> Verdict) -> crb_verdict {
    guard let instance = unsafe instance else { return crb_verdict(CRB_FAIL) }
    return unsafe Unmanaged<PluginBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { box in
      let core = CallCore(handle: call, host: box.host)
      do {
        let verdict = try hook(box, core)
        if case .later(let work) = verdict { return try box.suspend(core, work) }
        return verdict.code ?? crb_verdict(CRB_FAIL)
      } catch {
        core.setError(error)
        return crb_verdict(CRB_FAIL)
      }
    }
  }

  /// Cancels the work of a suspended hook, and calls the plugin's `onCancel` if it has one.
  static func cancel(_ instance: Word, _ call: crb_call, _ hook: (PluginBox, CallCore) -> Void) {
    guard let instance = unsafe instance else { return }
    unsafe Unmanaged<PluginBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { box in
      box.cancel(call)
      hook(box, CallCore(handle: call, host: box.host))
    }
  }

  static func release(_ instance: Word, _ word: Word, _ release: (PluginBox, UnsafeMutableRawPointer) -> Void) {
    guard let instance = unsafe instance, let word = unsafe word else { return }
    unsafe Unmanaged<PluginBox>.fromOpaque(instance)._withUnsafeGuaranteedRef { unsafe release($0, word) }
  }
}
