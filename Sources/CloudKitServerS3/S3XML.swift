#if S3
/// An element of an XML document that S3 sends: its text, and the elements in it.
package struct S3XML: Hashable, Sendable {
    /// The name, without the prefix of its namespace.
    package let name: String
    /// The text between its tags, outside the elements in it.
    package fileprivate(set) var text = ""
    package fileprivate(set) var children: [S3XML] = []

    /// The most bytes of a document: a page of a list has less than one megabyte.
    package static let maxBytes = 4 << 20
    /// The most elements in one another: S3 needs four.
    fileprivate static let maxDepth = 16

    /// Reads a document; nil for one that is not well-formed, too large or too deep, or that declares a document
    /// type, with which entities could be defined.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.maxBytes else { return nil }
        var parser = S3XMLParser(bytes)
        guard let root = parser.document() else { return nil }
        self = root
    }

    fileprivate init(named name: String) { self.name = name }

    /// Returns the first element with a name.
    package subscript(_ name: String) -> S3XML? { children.first { $0.name == name } }

    /// Returns the elements with a name.
    package func all(_ name: String) -> [S3XML] { children.filter { $0.name == name } }

    /// Returns text in which no character has a meaning in XML.
    package static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}

/// Reads the elements of a document, one after the other and without recursion.
private struct S3XMLParser {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    /// Returns the outermost element; nil for anything else.
    package mutating func document() -> S3XML? {
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        var open: [S3XML] = []
        var root: S3XML?
        while let byte = rest.first {
            guard byte == UInt8(ascii: "<") else {
                guard let text = text() else { return nil }
                if open.isEmpty {
                    guard text.allSatisfy(\.isWhitespace) else { return nil }
                } else {
                    open[open.count - 1].text += text
                }
                continue
            }
            if skip("<?") {
                guard skipThrough("?>") != nil else { return nil }
            } else if skip("<!--") {
                guard skipThrough("-->") != nil else { return nil }
            } else if skip("<![CDATA[") {
                guard !open.isEmpty, let raw = skipThrough("]]>"), let text = Self.string(raw)
                else { return nil }
                open[open.count - 1].text += text
            } else if skip("</") {
                guard let raw = skipThrough(">"), let name = Self.string(raw),
                    let done = open.popLast(), Self.local(name.trimmed) == done.name
                else { return nil }
                guard close(done, in: &open, &root) else { return nil }
            } else if skip("<!") {
                return nil
            } else {
                rest = rest.dropFirst()
                guard root == nil, let (element, isEmpty) = start(), open.count < S3XML.maxDepth
                else { return nil }
                if isEmpty {
                    guard close(element, in: &open, &root) else { return nil }
                } else {
                    open.append(element)
                }
            }
        }
        return open.isEmpty ? root : nil
    }

    /// Adds a complete element to the one around it, or ends the document with it.
    private func close(_ element: S3XML, in open: inout [S3XML], _ root: inout S3XML?) -> Bool {
        if open.isEmpty {
            guard root == nil else { return false }
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
        return true
    }

    /// Reads the rest of a start tag; attributes are skipped.
    private mutating func start() -> (S3XML, isEmpty: Bool)? {
        var quote: UInt8?
        guard
            let end = rest.firstIndex(where: { byte in
                if let open = quote {
                    if byte == open { quote = nil }
                    return false
                }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
                return byte == UInt8(ascii: ">")
            })
        else { return nil }
        var tag = rest[rest.startIndex..<end]
        rest = rest[(end + 1)...]
        let isEmpty = tag.last == UInt8(ascii: "/")
        if isEmpty { tag = tag.dropLast() }
        let spaces = Array(" \t\r\n".utf8)
        guard let name = Self.string(tag.prefix { !spaces.contains($0) }), !name.isEmpty,
            name.utf8.allSatisfy({ $0 > 0x7F || Self.isNameByte($0) })
        else { return nil }
        return (S3XML(named: Self.local(name)), isEmpty)
    }

    /// Reads text up to the next tag, with its entities replaced.
    private mutating func text() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.first, byte != UInt8(ascii: "<") {
            rest = rest.dropFirst()
            guard byte == UInt8(ascii: "&") else {
                bytes.append(byte)
                continue
            }
            guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
                let entity = Self.string(rest[rest.startIndex..<end]),
                let character = Self.character(entity)
            else { return nil }
            rest = rest[(end + 1)...]
            bytes += Array(String(character).utf8)
        }
        return Self.string(bytes)
    }

    private static func character(_ entity: String) -> Character? {
        switch entity {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard entity.hasPrefix("#") else { return nil }
            let isHexadecimal = entity.hasPrefix("#x")
            let digits = entity.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.first?.isHexDigit == true,
                let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
                let scalar = Unicode.Scalar(value), value > 0
            else { return nil }
            return Character(scalar)
        }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Skips everything through a text; returns what is before it, or nil if it does not occur.
    private mutating func skipThrough(_ text: String) -> ArraySlice<UInt8>? {
        let end = Array(text.utf8)
        var place = rest.startIndex
        while place + end.count <= rest.endIndex {
            if rest[place] == end[0], rest[place...].starts(with: end) {
                defer { rest = rest[(place + end.count)...] }
                return rest[rest.startIndex..<place]
            }
            place += 1
        }
        return nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isLetter || character.isNumber || "_:.-".contains(character)
    }

    private static func local(_ name: String) -> String {
        String(name.split(separator: ":", omittingEmptySubsequences: false).last ?? "")
    }

    private static func string(_ bytes: some Sequence<UInt8>) -> String? {
        String(validating: bytes, as: UTF8.self)
    }
}

extension String {
    /// The text without white space at its end, which end tags may have.
    fileprivate var trimmed: String {
        String(reversed().drop(while: \.isWhitespace).reversed())
    }
}
#endif
