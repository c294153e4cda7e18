/// The source lines of instructions, read from the section .debug_line (DWARF 2 to 5).
///
/// Everything in it may be wrong: nothing is allocated by a number of the file, and each step consumes a byte.
struct LineTable {
  /// A line of a source file. The path is relative if the compiler has only noted a relative one.
  struct Place: Sendable, Hashable {
    let file: String
    let line: Int
  }

  private let lines: [UInt8]
  /// .debug_line_str and .debug_str, which DWARF 5 refers to.
  private let lineTexts: [UInt8]
  private let texts: [UInt8]

  init(lines: [UInt8], lineTexts: [UInt8] = [], texts: [UInt8] = []) {
    self.lines = lines
    self.lineTexts = lineTexts
    self.texts = texts
  }

  /// The places of the instructions at some addresses. Those without debug information are left out.
  func places(of addresses: [UInt64]) -> [UInt64: Place] {
    var found: [UInt64: Place] = [:]
    var reader = DebugReader(lines)
    while !reader.isAtEnd, found.count < addresses.count {
      var length = reader.number(4)
      let isLong = length == 0xFFFF_FFFF
      if isLong { length = reader.number(8) }
      var unit = DebugReader(lines, at: reader.offset, count: Int(clamping: length))
      reader.skip(length)
      guard let header = Header(&unit, isLong, lineTexts, texts) else { continue }
      Program(header, addresses).run(&unit, &found)
    }
    return found
  }

  /// The path of a file in a folder, without `.` and `..` where possible.
  static func path(_ folder: String, _ name: String) -> String {
    let whole = name.hasPrefix("/") || folder.isEmpty ? name : "\(folder)/\(name)"
    var parts: [Substring] = []
    for part in whole.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
    }
    return (whole.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }
}

extension LineTable {
  /// The header of the lines of one compilation.
  struct Header {
    /// The folders and files, by number.
    private var folders: [String] = []
    private var files: [(name: String, folder: Int)] = []
    let minimumLength: UInt64
    let lineBase: Int64
    let lineRange: UInt8
    let opcodeBase: UInt8
    /// The number of operands of each standard opcode.
    let operands: [UInt8]

    /// More folders or files than any compilation has.
    private static let maximumNames = 65536

    /// Reads a header; nil if it has a form that is not known. The program follows it.
    init?(_ reader: inout DebugReader, _ isLong: Bool, _ lineTexts: [UInt8], _ texts: [UInt8]) {
      let version = reader.number(2)
      guard (2...5).contains(version) else { return nil }
      // The sizes of addresses and segments.
      if version == 5 { reader.skip(2) }
      let length = reader.number(isLong ? 8 : 4)
      let start = reader.offset
      minimumLength = UInt64(reader.byte())
      if version >= 4 { reader.skip(1) }
      reader.skip(1)
      lineBase = Int64(Int8(bitPattern: reader.byte()))
      lineRange = reader.byte()
      opcodeBase = reader.byte()
      guard lineRange > 0, opcodeBase > 0, length <= UInt64(reader.end - start) else { return nil }
      operands = [0] + (1..<Int(opcodeBase)).map { _ in reader.byte() }
      if version == 5 {
        guard let folders = Self.entries(&reader, isLong, lineTexts, texts),
          let files = Self.entries(&reader, isLong, lineTexts, texts)
        else { return nil }
        self.folders = folders.map { $0.name }
        self.files = files
      } else {
        readNames(&reader)
      }
      reader.skip(UInt64(max(0, start + Int(length) - reader.offset)))
    }

    /// Reads the folders and files of versions before 5. The folder of the compilation is not among them.
    private mutating func readNames(_ reader: inout DebugReader) {
      folders = [""]
      files = [("", 0)]
      while !reader.isAtEnd, folders.count < Self.maximumNames {
        let folder = reader.text()
        if folder.isEmpty { break }
        folders.append(folder)
      }
      while !reader.isAtEnd, files.count < Self.maximumNames {
        let name = reader.text()
        if name.isEmpty { break }
        files.append((name, Int(clamping: reader.unsigned())))
        // The time of its last change, and its size.
        _ = reader.unsigned()
        _ = reader.unsigned()
      }
    }

    /// Reads a list of folders or files of version 5; nil if a part of an entry has an unknown form.
    private static func entries(
      _ reader: inout DebugReader, _ isLong: Bool, _ lineTexts: [UInt8], _ texts: [UInt8]
    ) -> [(name: String, folder: Int)]? {
      let format = (0..<reader.byte()).map { _ in (content: reader.unsigned(), form: reader.unsigned()) }
      let count = reader.unsigned()
      guard count <= UInt64(maximumNames) else { return nil }
      var entries: [(name: String, folder: Int)] = []
      for _ in 0..<count where !reader.isAtEnd {
        var entry = (name: "", folder: 0)
        for (content, form) in format {
          switch form {
          // DW_FORM_string, DW_FORM_line_strp and DW_FORM_strp.
          case 0x08: set(&entry, content, reader.text())
          case 0x1F: set(&entry, content, text(in: lineTexts, at: reader.number(isLong ? 8 : 4)))
          case 0x0E: set(&entry, content, text(in: texts, at: reader.number(isLong ? 8 : 4)))
          // DW_FORM_udata, DW_FORM_data1, 2, 4 and 8.
          case 0x0F: set(&entry, content, reader.unsigned())
          case 0x0B: set(&entry, content, reader.number(1))
          case 0x05: set(&entry, content, reader.number(2))
          case 0x06: set(&entry, content, reader.number(4))
          case 0x07: set(&entry, content, reader.number(8))
          // DW_FORM_data16 and DW_FORM_block.
          case 0x1E: reader.skip(16)
          case 0x09: reader.skip(reader.unsigned())
          default: return nil
          }
        }
        entries.append(entry)
      }
      return entries
    }

    // DW_LNCT_path is 1, and DW_LNCT_directory_index 2.
    private static func set(_ entry: inout (name: String, folder: Int), _ content: UInt64, _ text: String) {
      if content == 1 { entry.name = text }
    }
    private static func set(_ entry: inout (name: String, folder: Int), _ content: UInt64, _ number: UInt64) {
      if content == 2 { entry.folder = Int(clamping: number) }
    }

    private static func text(in bytes: [UInt8], at offset: UInt64) -> String {
      var reader = DebugReader(bytes, at: Int(clamping: offset))
      return reader.text()
    }

    /// The path of a file by its number; nil if there is no such file.
    func path(of number: UInt64) -> String? {
      guard let number = Int(exactly: number), files.indices.contains(number), !files[number].name.isEmpty else { return nil }
      let (name, folder) = files[number]
      guard folders.indices.contains(folder) else { return name }
      // Folder 0 of version 5 is that of the compilation.
      return LineTable.path(LineTable.path(folders[0], folders[folder]), name)
    }
  }

  /// The program that generates the lines of one compilation.
  private struct Program {
    private let header: Header
    private let addresses: [UInt64]
    private var address: UInt64 = 0
    private var file: UInt64 = 1
    private var line: Int64 = 1
    /// The row before this one, in the same sequence of instructions.
    private var last: (address: UInt64, file: UInt64, line: Int64)?
    /// The linker sets the addresses of removed functions to 0.
    private var isRemoved = false

    init(_ header: Header, _ addresses: [UInt64]) {
      self.header = header
      self.addresses = addresses
    }

    consuming func run(_ reader: inout DebugReader, _ found: inout [UInt64: Place]) {
      while !reader.isAtEnd {
        let opcode = reader.byte()
        if opcode >= header.opcodeBase {
          let step = opcode - header.opcodeBase
          advance(UInt64(step / header.lineRange))
          line &+= header.lineBase &+ Int64(step % header.lineRange)
          addRow(&found)
          continue
        }
        switch opcode {
        case 0: runExtended(&reader, &found)
        case 1: addRow(&found)
        case 2: advance(reader.unsigned())
        case 3: line &+= reader.signed()
        case 4: file = reader.unsigned()
        case 8: advance(UInt64((255 - header.opcodeBase) / header.lineRange))
        case 9: address &+= reader.number(2)
        default: for _ in 0..<header.operands[Int(opcode)] { _ = reader.unsigned() }
        }
      }
    }

    private mutating func runExtended(_ reader: inout DebugReader, _ found: inout [UInt64: Place]) {
      let length = reader.unsigned()
      guard length > 0 else { return }
      switch reader.byte() {
      // DW_LNE_end_sequence
      case 1:
        addRow(&found)
        (address, file, line, last, isRemoved) = (0, 1, 1, nil, false)
        reader.skip(length - 1)
      // DW_LNE_set_address
      case 2 where length <= 9:
        address = reader.number(Int(length) - 1)
        isRemoved = address == 0
      default: reader.skip(length - 1)
      }
    }

    private mutating func advance(_ count: UInt64) { address &+= count &* header.minimumLength }

    /// Ends the instructions of the last row, and begins those of the next one.
    private mutating func addRow(_ found: inout [UInt64: Place]) {
      if let last, !isRemoved, last.address < address, last.line > 0 {
        for wanted in addresses where wanted >= last.address && wanted < address && found[wanted] == nil {
          guard let path = header.path(of: last.file) else { continue }
          found[wanted] = Place(file: path, line: Int(last.line))
        }
      }
      last = (address, file, line)
    }
  }
}
