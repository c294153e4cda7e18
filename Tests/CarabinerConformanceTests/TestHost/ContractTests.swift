import CCarabiner
import CarabinerABI
import Testing

@testable import CarabinerBridge
@testable import CarabinerConformance

/// The test host and the host give the same answers where the header allows only one.
@Suite("The test host and the host")
struct ContractTests {
  @Test(
    "both have a key for the same names",
    arguments: [
      ("org.example.user", true), ("test.lent", true), ("user", false), ("", false), ("org.example user", false),
      ("org.example.\u{7F}", false), ("org.example.é", false), ("org.example.a\nb", false),
      ("a." + String(repeating: "b", count: 126), true), ("a." + String(repeating: "b", count: 127), false),
    ])
  func keys(_ name: String, _ isKnown: Bool) {
    let bytes = Array(name.utf8)
    let ofTestHost = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe TestHost.current.key(crb_view(ptr: bytes.baseAddress, len: bytes.count))
    }
    #expect((ofTestHost != 0) == isKnown)
    #expect((BaggageKeys.key(for: name) != 0) == isKnown)
  }

  @Test("a stage can declare the parts that the header's table has for it")
  func parts() {
    let results: Parts = [.json, .data, .errors]
    let request: Parts = [.headers, .document, .variables, .extensions]
    let http: Parts = [.headers, .body, .url, .method, .chunk]
    let expected: [(StageKind, readable: Parts, writable: Parts)] = [
      (.graphQL, request.union(results).union(.operationName), request.union(results)),
      (.cache, request.union(results).union(.operationName), results),
      (.http, http, http),
      // A parser makes results from chunks. It cannot pass on changed chunks.
      (.parsing, results.union([.headers, .operationName, .chunk]), results),
    ]
    for (kind, readable, writable) in expected {
      #expect(Check.readableParts(of: kind) == readable, "\(kind)")
      #expect(Check.writableParts(of: kind) == writable, "\(kind)")
    }
  }
}
