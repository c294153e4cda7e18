import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import Foundation
import Testing

@Suite("Calls into unmodified C libraries")
struct FFITests {
  private let here = JSONPointer().appending("ffi")

  private func declaration(_ text: String) throws -> FFIDeclaration {
    try FFIDeclaration(try JSONValue(parsing: text), at: here)
  }

  @Test("zlib's crc32 of the body is what it should be")
  func crc32() throws {
    let function = try FFIFunction(
      declaration(
        """
        {"library": "libz.so.1", "function": "crc32", "returns": "u64", "header": "X-CRC", "format": "hex", "arguments":
         [{"type": "u64", "value": 0}, {"type": "pointer", "from": "body"}, {"type": "u32", "from": "body-length"}]}
        """), at: here)
    #expect(function.call(body: Data("123456789".utf8)) == "cbf43926")
  }

  @Test("texts, integers and floating-point numbers cross the border")
  func types() throws {
    let length = try FFIFunction(
      declaration(
        #"{"library":"libc.so.6","function":"strlen","returns":"u64","header":"X","arguments":[{"type":"string","value":"four"}]}"#
      ),
      at: here)
    #expect(length.call(body: Data()) == "4")
    let absolute = try FFIFunction(
      declaration(
        #"{"library":"libc.so.6","function":"abs","returns":"i32","header":"X","arguments":[{"type":"i32","value":-7}]}"#),
      at: here)
    #expect(absolute.call(body: Data()) == "7")
    let root = try FFIFunction(
      declaration(
        #"{"library":"libm.so.6","function":"sqrt","returns":"f64","header":"X","arguments":[{"type":"f64","value":2.25}]}"#),
      at: here)
    #expect(root.call(body: Data()) == "1.5")
  }

  @Test(
    "an invalid declaration is refused with the name of the fault",
    arguments: [
      (#"{"function":"f","returns":"u64","header":"X"}"#, "library"),
      (#"{"library":"l","function":"f","returns":"u65","header":"X"}"#, "u64"),
      (#"{"library":"l","function":"f","returns":"void","header":"X"}"#, "void"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X","arguments":[{"type":"u8","value":256}]}"#, "u8"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X","arguments":[{"type":"pointer","from":"body"}]}"#, "length"),
      (#"{"library":"l","function":"f","returns":"f64","header":"X","format":"hex"}"#, "hex"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X Y"}"#, "header"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X"}"#, "arguments, a list of what f takes"),
      (#"{"library":"l","function":"f","returns":"u64","header":"X","arguments":{}}"#, "must be a list"),
      (#"{"library":"l","funktion":"f","returns":"u64","header":"X"}"#, "did you mean function?"),
    ])
  func refusals(text: String, message: String) {
    let problem = #expect(throws: ManifestProblem.self) { try declaration(text) }
    #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
  }

  @Test("a library or symbol that is not there is refused")
  func absent() throws {
    let library = try declaration(#"{"library":"libabsent.so","function":"f","returns":"u64","header":"X","arguments":[]}"#)
    #expect(throws: ManifestProblem.self) { try FFIFunction(library, at: here) }
    let symbol = try declaration(#"{"library":"libz.so.1","function":"no_such","returns":"u64","header":"X","arguments":[]}"#)
    #expect(throws: ManifestProblem.self) { try FFIFunction(symbol, at: here) }
  }

  @Test(
    "a symbol that is data is refused, whether variable, pointer or constant", arguments: ["environ", "stdout", "in6addr_any"])
  func data(symbol: String) throws {
    let data = try declaration(#"{"library":"libc.so.6","function":"\#(symbol)","returns":"u64","header":"X","arguments":[]}"#)
    let problem = #expect(throws: ManifestProblem.self) { try FFIFunction(data, at: here) }
    #expect(problem?.pointer == here.appending("function"))
    #expect(problem?.message.contains("is data and not a function") == true, "\(problem?.message ?? "")")
  }

  @Test(
    "functions are accepted, also indirect, weak and private ones' aliases",
    arguments: ["strlen", "memcpy", "time", "getpid", "write", "__libc_malloc"])
  func code(symbol: String) throws {
    let function = try declaration(
      #"{"library":"libc.so.6","function":"\#(symbol)","returns":"u64","header":"X","arguments":[]}"#)
    #expect(throws: Never.self) { try FFIFunction(function, at: here) }
  }
}
