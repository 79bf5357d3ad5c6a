import CloudKitBasics
import CloudKitZlib
import Foundation

/// The decompression of bytes that were compressed without a header.
enum RawDeflate {
    /// Returns the decompressed bytes, up to a limit.
    ///
    /// - Throws: ``CoreDataModelError`` for other bytes, or for a result beyond the limit.
    static func inflate(_ data: Data, limit: Int) throws(CoreDataModelError) -> Data {
        var stream = z_stream()
        // Negative: without a header, with a window of 15 bits.
        guard
            inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw BinaryPropertyList.failure("there is no memory to inflate it") }
        defer { inflateEnd(&stream) }
        var source = Array(data)
        var page = [UInt8](repeating: 0, count: 1 << 16)
        var result = Data()
        let status = source.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = uInt(clamping: source.count)
            return page.withUnsafeMutableBufferPointer { page in
                var status = Z_OK
                while status == Z_OK, result.count <= limit {
                    stream.next_out = page.baseAddress
                    stream.avail_out = uInt(clamping: page.count)
                    status = CloudKitZlib.inflate(&stream, Z_NO_FLUSH)
                    result.append(contentsOf: page.prefix(page.count - Int(stream.avail_out)))
                }
                return status
            }
        }
        guard result.count <= limit else {
            throw CoreDataModelError(
                .tooLarge,
                "the archive",
                "it has more than \(limit) bytes when it is inflated"
            )
        }
        guard status == Z_STREAM_END else {
            throw BinaryPropertyList.failure("it is not compressed as in a store, or cut")
        }
        return result
    }
}
