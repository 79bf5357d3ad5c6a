import CDashboard
import NIOCore

/// The files of the dashboard, which are part of the binary.
struct DashboardPage: Sendable {
    /// A file of the dashboard.
    struct File: Sendable {
        let bytes: ByteBuffer
        /// The bytes compressed with gzip; nil if that does not make them shorter.
        let gzip: ByteBuffer?
        /// The media type sent to browsers.
        let type: String
        /// The entity tag, different for each content.
        let tag: String
    }

    /// The path of the page.
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

    /// Returns whether a path belongs to the page, including the one without the last slash.
    static func isPart(_ path: String) -> Bool { path.hasPrefix(Self.path) || path == "/_" }

    /// Returns the file at a path, or nil if there is none.
    static func file(at path: String) -> File? {
        let name = path.dropFirst(Self.path.count)
        return files[name.isEmpty ? "index.html" : String(name)]
    }

    /// The content security policy of the page: its own files, this server's data, and images of
    /// that data.
    ///
    /// Text from any source cannot become markup or script, whatever the page's scripts do with it:
    /// browsers refuse it as either.
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

    /// Returns the FNV-1a hash of the bytes, which are never an attacker's choice.
    private static func tag(of bytes: UnsafeRawBufferPointer) -> String {
        let sum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { sum, byte in
            (sum ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return String(sum, radix: 16)
    }
}
