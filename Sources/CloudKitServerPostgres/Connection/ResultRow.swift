#if PostgreSQL
import CPostgres

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One row of a result, whose values are in their binary form.
struct ResultRow {
    fileprivate let result: OpaquePointer
    fileprivate let row: Int32

    func isNull(_ column: Int32) -> Bool { PQgetisnull(result, row, column) != 0 }

    func int(_ column: Int32) -> Int64 {
        let bytes = raw(column)
        return switch bytes.count {
        case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        default: 0
        }
    }

    func bool(_ column: Int32) -> Bool { raw(column).first == 1 }

    func bytes(_ column: Int32) -> Data { Data(raw(column)) }

    func text(_ column: Int32) -> String { String(decoding: raw(column), as: UTF8.self) }

    func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }

    func optionalBytes(_ column: Int32) -> Data? { isNull(column) ? nil : bytes(column) }

    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    private func raw(_ column: Int32) -> UnsafeRawBufferPointer {
        let count = Int(PQgetlength(result, row, column))
        return UnsafeRawBufferPointer(
            start: UnsafeRawPointer(PQgetvalue(result, row, column)),
            count: count
        )
    }
}

/// The rows of a result; valid while it is received.
struct ResultRows: Sequence, IteratorProtocol {
    private let result: OpaquePointer
    private let count: Int32
    private var place: Int32 = 0

    init(_ result: OpaquePointer) {
        self.result = result
        count = PQntuples(result)
    }

    mutating func next() -> ResultRow? {
        guard place < count else { return nil }
        defer { place += 1 }
        return ResultRow(result: result, row: place)
    }

    /// The words with which the server names what it did, such as `COMMIT`.
    var status: String { String(cString: PQcmdStatus(result)) }
}
#endif
