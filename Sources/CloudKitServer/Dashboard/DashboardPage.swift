import CDashboard
import NIOCore

/// The files of the dashboard, which are part of the binary.
struct DashboardPage: Sendable {
    /// One of them.
    struct File: Sendable {
        let bytes: ByteBuffer
        /// The same bytes compressed; nil where that does not make them fewer.
        let gzip: ByteBuffer?
        /// What browsers are told that it is.
        let type: String
        /// Differs for every content.
        let tag: String
    }

    /// Where the page is.
    static let path = "/_/"

    /// The files by name.
    static let files: [String: File] = {
        var files: [String: File] = [:]
        var place = 0
        while let file = dashboard_file(place)?.pointee {
            let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.count)
            let name = String(cString: file.name)
            files[name] = File(
                bytes: ByteBuffer(bytes: bytes),
                gzip: Gzip.compress(bytes).map { ByteBuffer(bytes: $0) },
                type: type(of: name),
                tag: tag(of: bytes)
            )
            place += 1
        }
        return files
    }()

    /// Whether a path is the page's, or one that lacks the last stroke only.
    static func isPart(_ path: String) -> Bool { path.hasPrefix(Self.path) || path == "/_" }

    /// The file at a path; nil where there is none.
    static func file(at path: String) -> File? {
        let name = path.dropFirst(Self.path.count)
        return files[name.isEmpty ? "index.html" : String(name)]
    }

    /// What the page may load and do: its own files, this server's data, and images of it.
    ///
    /// Text that comes from anywhere cannot become markup or script, whatever the page's scripts do with
    /// it: browsers refuse to take text for either.
    static let contentPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=UTF-8"
        case "css": "text/css; charset=UTF-8"
        case "js": "text/javascript; charset=UTF-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// The FNV-1a sum of the bytes, which no stranger chooses.
    private static func tag(of bytes: UnsafeRawBufferPointer) -> String {
        let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { sum, byte in
            (sum ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return String(sum, radix: 16)
    }
}
