import Glibc
import Testing

@testable import CarabinerConformance

/// Tests change only their own thread, descriptor or page, because other tests run at the same time.
@Suite("A snapshot of the process")
struct ProcessSnapshotTests {
  @Test("nothing has changed if nothing was done")
  func nothing() async {
    let before = ProcessSnapshot.now
    #expect(ProcessSnapshot.now.lostDescriptors(since: before).filter { $0.hasPrefix("descriptor 0 ") } == [])
    #expect(ProcessSnapshot.now.differences(from: before).filter { $0.hasPrefix("the locale") } == [])
  }

  @Test("a changed rounding mode or priority of the thread is found, until it is changed back")
  func thread() throws {
    // On its own thread, because only root can raise a lowered priority again.
    // The thread is joined before the box is read.
    final class Box: @unchecked Sendable {
      var found: [[String]] = []
      var isLowest = false
    }
    let box = Box()
    TestHostThread {
      let before = ProcessSnapshot.now
      func look() {
        box.found.append(
          ProcessSnapshot.now.differences(from: before).filter {
            $0.hasPrefix("the floating") || $0.hasPrefix("the nice")
          })
      }
      let mode = fegetround()
      fesetround(FE_UPWARD)
      look()
      fesetround(mode)
      look()
      box.isLowest = nice(0) == 19
      _ = nice(1)
      look()
    }.join()
    #expect(box.found.map(\.count) == [1, 0, box.isLowest ? 0 : 1], "\(box.found)")
  }

  @Test("a descriptor that was closed, or is open on another file, is lost")
  func descriptors() throws {
    let (file, other) = unsafe (open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/zero", O_RDONLY | O_CLOEXEC))
    defer { for descriptor in [file, other] { close(descriptor) } }
    // Other tests use the lowest free number, so none of them uses this one.
    let number = fcntl(file, F_DUPFD_CLOEXEC, 900)
    try #require(number >= 900)
    func lost(since before: ProcessSnapshot) -> [String] {
      ProcessSnapshot.now.lostDescriptors(since: before).filter { $0.hasPrefix("descriptor \(number) ") }
    }
    let before = ProcessSnapshot.now
    #expect(lost(since: before) == [])
    dup2(other, number)
    #expect(lost(since: before) == ["descriptor \(number) is open on something else"])
    close(number)
    #expect(lost(since: before) == ["descriptor \(number) is closed"])
  }

  @Test("pages that can be written and run are found")
  func pages() throws {
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    let mapped: UnsafeMutableRawPointer? = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page = unsafe mapped, unsafe page != MAP_FAILED else {
      Issue.record("no page can be mapped")
      return
    }
    defer { unsafe munmap(page, size) }
    let before = MemoryMap.now
    // Other tests load libraries, whose pages change too.
    func found() -> [String] { MemoryMap.now.differences(from: before).filter { $0.hasPrefix("memory of no file") } }
    #expect(unsafe mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
    #expect(found() == ["memory of no file can be written and run (rwxp)"])
    #expect(unsafe mprotect(page, size, PROT_READ | PROT_WRITE) == 0)
    #expect(found() == [])
  }
}
