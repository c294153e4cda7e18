internal import CLibFuzzer
internal import FuzzTargets
internal import Glibc

/// libFuzzer on one of the targets: `carabiner-fuzz TARGET [LIBFUZZER-ARGUMENT…]`; without arguments it prints the targets.
@main
enum Fuzz {
  /// The selected target. It is set once, before libFuzzer starts.
  nonisolated(unsafe) fileprivate static var target = FuzzTarget.json

  static func main() {
    var arguments = CommandLine.arguments
    guard arguments.count > 1 else { return print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n")) }
    guard let chosen = FuzzTarget(rawValue: arguments.remove(at: 1)) else {
      print("there is no such target; there are \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
      exit(2)
    }
    unsafe target = chosen
    var count = Int32(arguments.count)
    let copies = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
    for index in arguments.indices { unsafe copies[index] = unsafe strdup(arguments[index]) }
    unsafe copies[arguments.count] = nil
    var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe copies
    exit(unsafe LLVMFuzzerRunDriver(&count, &pointer, testOneInput))
  }
}

/// The function that libFuzzer calls with each input. A finding ends the process like a crash.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  do {
    unsafe try Fuzz.target.check(bytes)
  } catch {
    let words = "finding: \(error)\n"
    unsafe write(STDERR_FILENO, words, words.utf8.count)
    abort()
  }
  return 0
}
