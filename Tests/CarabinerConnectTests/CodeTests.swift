import CarabinerConnect
import TestTools
import Testing

@Suite("Codes of the Connect protocol")
struct CodeTests {
  @Test("each code has the name by which it is found", arguments: Code.allCases)
  func names(code: Code) {
    #expect(Code.fromName(code.name) == code)
  }

  @Test(
    "a status without an error body implies a code", .rule("connect.43"),
    arguments: [
      (200, Code.ok), (400, .internalError), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
      (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (100, .unknown), (302, .unknown),
      (409, .unknown), (500, .unknown), (800, .unknown),
    ])
  func statuses(status: Int, code: Code) {
    #expect(Code.fromHTTPStatus(status) == code)
  }
}
