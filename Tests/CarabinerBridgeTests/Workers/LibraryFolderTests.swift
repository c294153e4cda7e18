import TestTools
import Testing

@testable import CarabinerWorkers

@Suite("Paths of libraries that a worker may read")
struct LibraryFolderTests {
  @Test("absolute paths that the manifest allows are readable, files and folders alike", .rule("worker.16"))
  func allowed() {
    #expect(LibraryFolders.readable(["/opt/vendor/lib", "/opt/other/libown.so"]) == ["/opt/other/libown.so", "/opt/vendor/lib"])
    #expect(LibraryFolders.readable([]) == [])
  }

  @Test("entries that are allowed in process do not open the system, other processes, or ways around", .rule("worker.16"))
  func hostile() {
    let words: Set = [
      "/", "//", "/proc/self", "/proc/self/root/etc", "/dev/fd", "/sys", "", "libraries", "$ORIGIN", "${ORIGIN}/lib", "/opt/$LIB",
      "/opt/../etc", "/opt/.", "/opt\0/lib",
    ]
    #expect(LibraryFolders.readable(words) == [])
  }
}
