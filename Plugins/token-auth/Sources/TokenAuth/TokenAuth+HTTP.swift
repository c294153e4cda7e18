internal import CarabinerPlugin

/// The stage of the `http` list, for calls that are not GraphQL. It sees the status of each response.
extension TokenAuth: HTTP.Stage, HTTP.OnHead {
  static let http = StageParts(mutates: .headers)

  func onRequest(_ call: HTTP.Call, _ attempt: inout Attempt) throws -> Verdict {
    try authorize(attempt) { try call.setHeader(header, to: $0) }
  }

  func onHead(_ call: HTTP.Call, _ head: borrowing Head, _ attempt: inout Attempt) throws -> Verdict {
    head.status == 401 ? refreshOnce(attempt) : .continue
  }
}
