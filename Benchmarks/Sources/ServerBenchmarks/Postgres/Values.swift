#if PostgreSQL
/// The values of a statement's places in their binary form, of which numbers and names can be renewed
/// without encoding the others again.
struct Values: Sendable {
    private var bytes: [UInt8] = []
    /// The place of each value; nil for NULL.
    private var places: [Range<Int>?] = []

    init() {}

    init(_ numbers: Int64...) { for number in numbers { append(number) } }

    mutating func append(_ number: Int64) {
        append(withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    mutating func append(_ value: [UInt8]?) {
        guard let value else { return places.append(nil) }
        places.append(bytes.count..<bytes.count + value.count)
        bytes += value
    }

    /// Replaces a number, which is a value of its own or an element of an array.
    mutating func set(_ number: Int64, of value: Int, element: Int? = nil) {
        // An array has five numbers before its first element, and each element its length.
        let start = (places[value]?.lowerBound ?? 0) + (element.map { 24 + 12 * $0 } ?? 0)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: number.bigEndian, toByteOffset: start, as: Int64.self)
        }
    }

    /// Returns the number of a value, or of an element of an array.
    func number(_ value: Int, element: Int? = nil) -> Int64 {
        let start = (places[value]?.lowerBound ?? 0) + (element.map { 24 + 12 * $0 } ?? 0)
        return bytes.withUnsafeBytes {
            Int64(bigEndian: $0.loadUnaligned(fromByteOffset: start, as: Int64.self))
        }
    }

    /// Returns the places of a text, wherever it is.
    func places(of text: String) -> [Int] {
        let pattern = Array(text.utf8)
        return bytes.indices.filter { bytes[$0...].starts(with: pattern) }
    }

    mutating func put(_ text: String, at places: [Int]) {
        let text = Array(text.utf8)
        for place in places { bytes.replaceSubrange(place..<place + text.count, with: text) }
    }

    /// Calls a closure with the arrays that libpq takes.
    func withPointers<Value>(
        _ body: (
            _ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]
        ) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { buffer in
            // A value without bytes has an address too: nil is NULL.
            let start = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            let values = places.map { place in
                place.flatMap {
                    start?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self)
                }
            }
            return body(
                values,
                places.map { Int32($0?.count ?? 0) },
                [Int32](repeating: 1, count: places.count)
            )
        }
    }
}
#endif
