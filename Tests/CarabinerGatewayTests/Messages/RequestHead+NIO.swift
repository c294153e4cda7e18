import Carabiner
import NIOHTTP1

@testable import CarabinerGateway

extension RequestHead {
  /// A head with fields that a test has written.
  init(_ head: HTTPRequestHead) throws {
    var headers = Carabiner.HTTPHeaders()
    for (name, value) in head.headers { headers.add(name: name, value: value) }
    self.init(
      method: head.method, target: head.uri, version: head.version, headers: headers, keepsAlive: false,
      check: try RequestHeadCheck(headers))
  }
}
