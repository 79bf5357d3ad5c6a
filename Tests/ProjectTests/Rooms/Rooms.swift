/// The rooms of a target, which are the folders below its own, with the types by which one uses another.
///
/// A type belongs to the room of the file that declares it; an extension declares none, and a nested type is
/// used by the name of the outer one. A name that several files declare shows nothing.
struct Rooms {
    struct Arrow: Hashable, Comparable {
        var from: String
        var to: String

        static func < (one: Arrow, other: Arrow) -> Bool {
            (one.from, one.to) < (other.from, other.to)
        }
    }

    var names: Set<String> = []
    /// The used types.
    var uses: [Arrow: Set<String>] = [:]

    /// Reads the files below a target's folder; those beside the rooms are in one of the target's name.
    init(_ files: [SourceFile], of target: String) {
        let target = target.split(separator: "/").last ?? ""
        let files = files.map { file in
            let path = file.path.split(separator: "/").drop { $0 != target }
            let room = path.count > 2 ? path[path.startIndex + 1] : target
            return (room: String(room), code: Code(file.text))
        }
        var owners: [String: [String]] = [:]
        for file in files {
            for type in file.code.types { owners[type, default: []].append(file.room) }
        }
        for file in files {
            for name in file.code.names {
                guard let owner = owners[name], owner.count == 1, owner[0] != file.room else {
                    continue
                }
                uses[Arrow(from: file.room, to: owner[0]), default: []].insert(name)
            }
        }
        // A room whose only file declares nothing, such as a check of the build, is none.
        names = Set(files.filter { !$0.code.types.isEmpty || $0.room != target }.map(\.room))
    }
}

/// A Swift file without its comments and the text of its strings, and the names in it.
struct Code {
    let text: String
    /// The types that the file declares, other than within another.
    private(set) var types: Set<String> = []
    /// The names that begin with a capital letter.
    private(set) var names: Set<String> = []

    init(_ text: String) {
        let code = String(decoding: Self.code(Array(text.utf8)), as: UTF8.self)
        self.text = code
        let type = /^(?:[@a-z][^ {]* )*?(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w*)/
            .anchorsMatchLineEndings()
        types = Set(code.matches(of: type).map { String($0.output.1) })
        names = Set(code.matches(of: /\b[A-Z]\w*/).map { String($0.output) })
    }

    /// Returns the text without comments and strings, but with the code inside of strings.
    private static func code(_ text: [UInt8]) -> [UInt8] {
        var reader = CodeReader(rest: text[...])
        reader.read(until: nil)
        return reader.code
    }
}

/// A reader of Swift's comments and strings, as far as they hide names.
private struct CodeReader {
    var rest: ArraySlice<UInt8>
    var code: [UInt8] = []

    private func isNext(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { rest.starts(with: $0) }
    }

    /// Reads code up to the parenthesis that closes it, or to the end.
    mutating func read(until close: UInt8?) {
        var depth = 0
        while let byte = rest.first {
            if isNext("//") {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if isNext("/*") {
                skipComment()
            } else if byte == UInt8(ascii: "\"") || isNext("#\"") {
                skipString()
            } else {
                if byte == close, depth == 0 { return }
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                code.append(byte)
                rest = rest.dropFirst()
            }
        }
    }

    private mutating func skipComment() {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !isNext("*/") { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
    }

    private mutating func skipString() {
        let hashes = rest.prefix { $0 == UInt8(ascii: "#") }
        rest = rest.dropFirst(hashes.count)
        let isLong = isNext("\"\"\"")
        let quote = [UInt8](repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1)
        let end = quote + hashes
        let escape = [UInt8(ascii: "\\")] + hashes
        rest = rest.dropFirst(quote.count)
        code.append(UInt8(ascii: " "))
        while let byte = rest.first, !rest.starts(with: end) {
            guard isLong || byte != UInt8(ascii: "\n") else { return }
            guard rest.starts(with: escape) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(escape.count)
            guard rest.first == UInt8(ascii: "(") else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst()
            read(until: UInt8(ascii: ")"))
            code.append(UInt8(ascii: " "))
        }
        rest = rest.dropFirst(end.count)
    }
}
