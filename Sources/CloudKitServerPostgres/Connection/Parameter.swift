#if PostgreSQL
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value for a statement's place, which goes to the server in its binary form.
///
/// Text is `bytea` in all tables, because PostgreSQL's own text cannot hold U+0000, and sorts by the
/// rules of a language unless told otherwise.
enum Parameter: Sendable {
    case int(Int64?)
    case bytes(Data?)
    case text(String?)
    case bool(Bool)
    case ints([Int64])
    case optionalInts([Int64?])
    case manyBytes([Data?])
    case texts([String?])
    case bools([Bool])
}

/// The parameters of one statement, encoded.
struct ParameterBuffer {
    private var bytes: [UInt8] = []
    /// The place of each value; nil for NULL.
    private var places: [Range<Int>?] = []

    init(_ parameters: [Parameter]) {
        bytes.reserveCapacity(parameters.count * 16)
        places.reserveCapacity(parameters.count)
        for parameter in parameters { append(parameter) }
    }

    /// Calls a closure with the arrays that libpq takes.
    func withPointers<Value>(
        _ body: (
            _ count: Int32, _ values: [UnsafePointer<CChar>?], _ lengths: [Int32],
            _ formats: [Int32]
        ) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { buffer in
            // A value without bytes has an address too: nil is NULL.
            let empty = UnsafeRawPointer(bitPattern: 1)
            let start = buffer.baseAddress ?? empty
            let values = places.map { place in
                place.flatMap { place in
                    start?.advanced(by: place.lowerBound).assumingMemoryBound(to: CChar.self)
                }
            }
            let lengths = places.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: places.count)
            return body(Int32(places.count), values, lengths, formats)
        }
    }

    private mutating func append(_ parameter: Parameter) {
        let start = bytes.count
        var isNull = false
        switch parameter {
        case .int(let value):
            if let value { append(value) } else { isNull = true }
        case .bytes(let value):
            if let value { bytes.append(contentsOf: value) } else { isNull = true }
        case .text(let value):
            if let value { bytes.append(contentsOf: value.utf8) } else { isNull = true }
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .ints(let values):
            openArray(of: 20, count: values.count)
            for value in values {
                append(Int32(8))
                append(value)
            }
        case .optionalInts(let values):
            openArray(of: 20, count: values.count, hasNulls: values.contains(nil))
            for value in values {
                append(value == nil ? Int32(-1) : 8)
                if let value { append(value) }
            }
        case .bools(let values):
            openArray(of: 16, count: values.count)
            for value in values {
                append(Int32(1))
                bytes.append(value ? 1 : 0)
            }
        case .manyBytes(let values):
            openArray(of: 17, count: values.count, hasNulls: values.contains(nil))
            for value in values {
                append(value.map { Int32($0.count) } ?? -1)
                if let value { bytes.append(contentsOf: value) }
            }
        case .texts(let values):
            openArray(of: 17, count: values.count, hasNulls: values.contains(nil))
            for value in values {
                append(value.map { Int32($0.utf8.count) } ?? -1)
                if let value { bytes.append(contentsOf: value.utf8) }
            }
        }
        places.append(isNull ? nil : start..<bytes.count)
    }

    /// Begins an array of a type, which has the number of PostgreSQL's catalogue.
    private mutating func openArray(of type: Int32, count: Int, hasNulls: Bool = false) {
        append(Int32(count == 0 ? 0 : 1))
        append(Int32(hasNulls ? 1 : 0))
        append(type)
        guard count > 0 else { return }
        append(Int32(count))
        // The index of the first element.
        append(Int32(1))
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
#endif
