import Testing

@testable import CarabinerGateway

@Suite("The process that has a port")
struct PortHolderTests {
  private static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:0FA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
       1: 0100007F:0FA0 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 20 4 30 10 -1
       2: 0100007F:0FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
       3: broken
    """

  @Test("only sockets that listen at the port are found, in both tables of the kernel")
  func sockets() {
    #expect(PortHolder.sockets(in: Self.table, port: 4000) == ["socket:[4711]"])
    #expect(PortHolder.sockets(in: Self.table, port: 4001) == ["socket:[4713]"])
    #expect(PortHolder.sockets(in: Self.table, port: 80) == [])
    let six = Self.table.replacing("0100007F:0FA0", with: "00000000000000000000000000000000:0FA0")
    #expect(PortHolder.sockets(in: six, port: 4000) == ["socket:[4711]"])
  }
}
