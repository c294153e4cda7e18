internal import CCarabiner

extension PluginFailure {
  /// - Throws: ``PluginFailure`` with the refused function and the meaning of the status, unless it is `CRB_OK`.
  static func check(_ status: crb_status, _ what: @autoclosure () -> String) throws {
    guard status != crb_status(CRB_OK) else { return }
    let meaning =
      switch Int(status) {
      case CRB_E_INVAL: "an argument is malformed"
      case CRB_E_NOMEM: "memory or quota is exhausted"
      case CRB_E_UNSUPPORTED: "this host does not do that"
      case CRB_E_STALE: "the call is over"
      case CRB_E_STATE: "not in this hook, or not declared as needed"
      case CRB_E_LIMIT: "a limit of the host was reached"
      case CRB_E_THREAD: "another thread is at work on this call"
      case CRB_E_NOTFOUND: "there is none"
      case CRB_E_READONLY: "not declared as changed"
      default: "the host is at fault"
      }
    throw PluginFailure("the host refuses \(what()): \(meaning) (status \(status))", code: status)
  }
}
