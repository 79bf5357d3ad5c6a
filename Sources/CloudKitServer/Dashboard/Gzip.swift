import CloudKitZlib

/// The gzip format.
enum Gzip {
    /// Compresses bytes at zlib's highest level; returns nil if the result is no shorter.
    static func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var stream = z_stream()
        let (window, gzipHeader, memory) = (15, 16, 9)
        guard
            deflateInit2_(
                &stream,
                Z_BEST_COMPRESSION,
                Z_DEFLATED,
                Int32(window + gzipHeader),
                Int32(memory),
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)
            ) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        let compressed = [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            stream.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
            stream.avail_in = UInt32(bytes.count)
            stream.next_out = room.baseAddress
            stream.avail_out = UInt32(room.count)
            // Output that does not fit saves nothing.
            if deflate(&stream, Z_FINISH) == Z_STREAM_END { count = Int(stream.total_out) }
        }
        return compressed.isEmpty ? nil : compressed
    }
}
