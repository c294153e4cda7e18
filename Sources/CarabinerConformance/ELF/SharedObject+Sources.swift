extension SharedObject {
  /// The functions and the source lines of some instructions, as far as the file has them.
  func sources(of offsets: [UInt64]) -> [InstructionSource] {
    let sections = sections
    let functions = functions(at: offsets, in: sections)
    let places = LineTable(
      lines: bytes(of: ".debug_line", in: sections), lineTexts: bytes(of: ".debug_line_str", in: sections),
      texts: bytes(of: ".debug_str", in: sections)
    ).places(of: offsets)
    return offsets.map { offset in
      var source = InstructionSource(offset: offset)
      source.function = functions[offset].map(SymbolName.decoded)
      source.file = places[offset]?.file
      source.line = places[offset]?.line
      return source
    }
  }
}
