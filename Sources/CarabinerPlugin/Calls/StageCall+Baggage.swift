internal import CCarabiner

extension StageCall {
  /// The innermost visible value of a key; nil if there is none.
  ///
  /// - Throws: ``PluginFailure`` if the call has ended.
  public func baggage(_ key: BaggageKey) throws -> BaggageValue? {
    var raw = unsafe crb_value()
    let status = unsafe core.host.table.pointee.bag_get(core.handle, key.raw, &raw)
    guard status != crb_status(CRB_E_NOTFOUND) else { return nil }
    try PluginFailure.check(status, "a look at the baggage")
    return switch unsafe Int(raw.type) {
    case CRB_VALUE_BOOL: unsafe .bool(raw.n.i != 0)
    case CRB_VALUE_I64: unsafe .integer(raw.n.i)
    case CRB_VALUE_F64: unsafe .real(raw.n.f)
    case CRB_VALUE_TEXT: unsafe .text(raw.v.text)
    case CRB_VALUE_BYTES: unsafe .bytes(raw.v.array)
    case CRB_VALUE_JSON: unsafe .json(raw.v.text)
    default: nil
    }
  }

  /// Sets a value in a scope. Nil hides an earlier value.
  ///
  /// - Throws: ``PluginFailure`` if this hook cannot set a value in the scope.
  public func setBaggage(_ key: BaggageKey, to value: BaggageValue?, in scope: BaggageScope = .inner) throws {
    var raw = unsafe crb_value()
    let set = { (raw: inout crb_value) in
      unsafe core.host.table.pointee.bag_set(core.handle, key.raw, scope.rawValue, &raw)
    }
    let status: crb_status
    switch value {
    case nil:
      status = unsafe set(&raw)
    case .bool(let value):
      unsafe raw.type = UInt32(CRB_VALUE_BOOL)
      unsafe raw.n.i = value ? 1 : 0
      status = unsafe set(&raw)
    case .integer(let value):
      unsafe raw.type = UInt32(CRB_VALUE_I64)
      unsafe raw.n.i = value
      status = unsafe set(&raw)
    case .real(let value):
      unsafe raw.type = UInt32(CRB_VALUE_F64)
      unsafe raw.n.f = value
      status = unsafe set(&raw)
    case .text(let text), .json(let text):
      if case .text? = value { unsafe raw.type = UInt32(CRB_VALUE_TEXT) } else { unsafe raw.type = UInt32(CRB_VALUE_JSON) }
      status = unsafe text.withView {
        unsafe raw.v = unsafe $0
        return unsafe set(&raw)
      }
    case .bytes(let bytes):
      unsafe raw.type = UInt32(CRB_VALUE_BYTES)
      status = unsafe bytes.withView {
        unsafe raw.v = unsafe $0
        return unsafe set(&raw)
      }
    }
    try PluginFailure.check(status, "the baggage")
  }
}
