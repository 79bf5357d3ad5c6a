/// A binary property list that is written object by object, in the format that
/// ``BinaryPropertyList`` reads.
package struct BinaryPropertyListWriter {
    private var objects: [BinaryPropertyList.Object] = []
    /// The numbers of the texts that were added.
    private var texts: [String: Int] = [:]
    /// The numbers of the references that were added, by target; these are counted from 0.
    private var references: [Int?] = []

    package init() {
        objects.reserveCapacity(96)
        texts.reserveCapacity(48)
    }

    /// Adds an object whose elements were added before, or will be set; returns its number.
    package mutating func add(_ object: BinaryPropertyList.Object) -> Int {
        switch object {
        case .string(let text):
            if let number = texts[text] { return number }
            texts[text] = objects.count
        case .reference(let target):
            if target >= references.count {
                references += Array(repeating: nil, count: target + 1 - references.count)
            }
            if let number = references[target] { return number }
            references[target] = objects.count
        default: break
        }
        objects.append(object)
        return objects.count - 1
    }

    /// Returns the bytes of the list, whose top object has a number.
    package func bytes(top: Int) -> [UInt8] {
        let numberSize = Self.size(objects.count)
        var bytes = Array("bplist00".utf8)
        bytes.reserveCapacity(2048)
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(bytes.count)
            Self.append(object, numberSize, to: &bytes)
        }
        let table = bytes.count
        let offsetSize = Self.size(table)
        for offset in offsets { Self.append(offset, offsetSize, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(numberSize)]
        for number in [objects.count, top, table] { Self.append(number, 8, to: &bytes) }
        return bytes
    }

    /// The number of bytes, 1, 2, 4 or 8, that hold numbers up to a limit.
    private static func size(_ limit: Int) -> Int {
        switch limit {
        case ...0xFF: 1
        case ...0xFFFF: 2
        case ...0xFFFF_FFFF: 4
        default: 8
        }
    }

    /// Appends a number with its most significant byte first.
    private static func append(_ number: Int, _ size: Int, to bytes: inout [UInt8]) {
        for place in (0..<size).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
        }
    }

    /// Appends an object's kind and its number of elements.
    private static func appendHead(_ kind: UInt8, _ count: Int, to bytes: inout [UInt8]) {
        guard count >= 0x0F else { return bytes.append(kind | UInt8(count)) }
        bytes.append(kind | 0x0F)
        appendInteger(Int64(count), to: &bytes)
    }

    private static func appendInteger(_ integer: Int64, to bytes: inout [UInt8]) {
        // Only numbers of eight bytes have a sign.
        let size = integer < 0 ? 8 : size(Int(integer))
        bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
        append(Int(integer), size, to: &bytes)
    }

    private static func appendReal(_ kind: UInt8, _ real: Double, to bytes: inout [UInt8]) {
        bytes.append(kind | 3)
        append(Int(bitPattern: UInt(real.bitPattern)), 8, to: &bytes)
    }

    private static func append(
        _ object: BinaryPropertyList.Object,
        _ numberSize: Int,
        to bytes: inout [UInt8]
    ) {
        switch object {
        case .null: bytes.append(0)
        case .boolean(let flag): bytes.append(flag ? 0x09 : 0x08)
        case .integer(let integer): appendInteger(integer, to: &bytes)
        case .real(let real): appendReal(0x20, real, to: &bytes)
        case .date(let seconds): appendReal(0x30, seconds, to: &bytes)
        case .data(let content):
            appendHead(0x40, content.count, to: &bytes)
            bytes += content
        case .string(let text): append(text, to: &bytes)
        case .reference(let target):
            let size = size(target)
            bytes.append(0x80 | UInt8(size - 1))
            append(target, size, to: &bytes)
        case .array(let elements):
            appendHead(0xA0, elements.count, to: &bytes)
            for element in elements { append(element, numberSize, to: &bytes) }
        case .dictionary(let pairs):
            appendHead(0xD0, pairs.count, to: &bytes)
            for pair in pairs { append(pair.key, numberSize, to: &bytes) }
            for pair in pairs { append(pair.value, numberSize, to: &bytes) }
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let utf8 = text.utf8
        if utf8.allSatisfy({ $0 < 0x80 }) {
            appendHead(0x50, utf8.count, to: &bytes)
            bytes += utf8
        } else {
            let units = Array(text.utf16)
            appendHead(0x60, units.count, to: &bytes)
            for unit in units { append(Int(unit), 2, to: &bytes) }
        }
    }
}
