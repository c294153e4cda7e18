import CCarabiner
import CarabinerABI
import Testing

@Suite("The tables of an interceptor")
struct InterceptorTableTests {
  @Test("a table of an older plugin is read up to its size, and later fields are absent")
  func olderTable() throws {
    var stage = crb_http_stage()
    stage.size = UInt32(try #require(MemoryLayout<crb_http_stage>.offset(of: \.mutates)))
    stage.needs = Parts.headers.rawValue
    stage.mutates = Parts.body.rawValue
    let copy = unsafe withUnsafePointer(to: stage) { unsafe InterceptorTable.copy($0, crb_http_stage()) }
    #expect(copy.needs == Parts.headers.rawValue)
    #expect(copy.mutates == 0)
  }

  @Test("a table of a newer plugin is read as far as this host knows it")
  func newerTable() {
    var stage = crb_http_stage()
    stage.size = UInt32(MemoryLayout<crb_http_stage>.size + 64)
    stage.mutates = Parts.body.rawValue
    let copy = unsafe withUnsafePointer(to: stage) { unsafe InterceptorTable.copy($0, crb_http_stage()) }
    #expect(copy.mutates == Parts.body.rawValue)
  }
}
