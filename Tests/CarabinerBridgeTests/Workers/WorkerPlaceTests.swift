import Glibc
import TestTools
import Testing

@testable import CarabinerWorkers

@Suite("Places in the code of workers")
struct WorkerPlaceTests {
  private static let maps = WorkerMaps(
    """
    55d0c0000000-55d0c0001000 r--p 00000000 fe:00 11                         /usr/libexec/carabiner-worker
    7f0000000000-7f0000001000 r--p 00000000 00:01 2053                       /memfd:carabiner:hmac.so (deleted)
    7f0000001000-7f0000002000 r-xp 00001000 00:01 2053                       /memfd:carabiner:hmac.so (deleted)
    7f0000004000-7f0000005000 r-xp 00001000 00:01 2054                       /memfd:carabiner:hmac.so (deleted)
    7f0000006000-7f0000007000 rw-p 00000000 00:00 0
    7f0000008000-7f0000009000 r-xp 00002000 fe:00 12                         /usr/lib/my libc.so.6
    7ffff0000000-7ffff0002000 r-xp 00000000 00:00 0                          [vdso]
    not a line of maps
    """)

  @Test(
    "an address is named by its library and the distance from where the library begins", .rule("worker.41"),
    arguments: [
      (0x7f00_0000_12c7, "hmac.so+0x12c7"), (0x7f00_0000_1fff, "hmac.so+0x1fff"),
      // Without the beginning of the file, by its offset there. Another file has the same name.
      (0x7f00_0000_4010, "hmac.so+0x1010"), (0x7f00_0000_8000, "my libc.so.6+0x2000"),
      // Not code, not mapped, or of no file.
      (0x7f00_0000_0010, nil), (0x7f00_0000_2000, nil), (0x7f00_0000_6000, nil), (0x7fff_f000_0000, nil), (0, nil),
    ] as [(UInt64, String?)])
  func place(address: UInt64, name: String?) {
    #expect(Self.maps.place(of: address) == name)
  }

  @Test("the own maps of a process are read, and those of one that is gone are not", .rule("worker.41"))
  func real() throws {
    let maps = try #require(WorkerMaps(of: getpid()))
    let address = unsafe UInt64(UInt(bitPattern: dlsym(nil, "malloc")))
    #expect(maps.place(of: address)?.contains("+0x") == true)
    #expect(WorkerMaps(of: .max) == nil)
  }

  @Test(
    "the kernel's lines about fatal signals have the address of the instruction, other lines have none", .rule("worker.41"),
    arguments: [
      (
        "4,1,2,-;carabiner-worke[893]: segfault at 10 ip 00007f8548e532c7 sp 00007f85303aac70 error 6",
        0x7f85_48e5_32c7
      ),
      ("4,1,2,-;traps: exe[2631] trap invalid opcode ip:563f3a2c57bf sp:7fff40569d10 error:0 in x[c]", 0x563f_3a2c_57bf),
      ("6,1,2,-;eth0: link is up, ip 10 was set", nil), ("4,1,2,-;x[1]: segfault at 10 ip 00007f8548e532c700 sp 0", nil),
      ("", nil),
      // Names that a plugin can give its thread with PR_SET_NAME, of 15 bytes.
      ("4,1,2,-;ip 7f00000012c7[893]: segfault at 10 ip 00007f8548e532c7 sp 00007f85303aac70 error 6", 0x7f85_48e5_32c7),
      ("4,1,2,-;]: segfault at [893]: segfault at 10 ip 00007f8548e532c7 sp 00007f85303aac70 error 6", 0x7f85_48e5_32c7),
      ("4,1,2,-;traps: ] a ip:1 sp:2 e[2631] trap int3 ip:563f3a2c57bf sp:7fff40569d10 error:0", 0x563f_3a2c_57bf),
      ("4,1,2,-;traps: ip:0[2631] general protection fault ip:563f3a2c57bf sp:7fff40569d10 error:0", 0x563f_3a2c_57bf),
      ("4,1,2,-; segfault at [893]: segfault at 10 ip 00007f8548e532c7 sp 00007f85303aac70 error 6", 0x7f85_48e5_32c7),
    ] as [(String, UInt64?)])
  func kernelLine(line: String, address: UInt64?) {
    #expect(KernelLog.address(in: line) == address)
  }
}
