internal import CarabinerEtcd

extension SourceError {
  init(_ error: EtcdError) {
    let code: Code =
      switch error.code {
      case .invalidSettings: .invalidSettings
      case .unavailable, .uncertain, .compacted: .unavailable
      case .unauthenticated: .unauthenticated
      case .denied: .denied
      case .refused: .refused
      case .malformed: .malformed
      }
    self.init(code, error.message)
  }
}
