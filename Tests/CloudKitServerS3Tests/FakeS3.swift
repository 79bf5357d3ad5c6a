#if S3
import CloudKitBasics
import CloudKitServerS3
import Crypto
import Foundation
import NIOCore
import Synchronization

/// S3 in memory: as much of it as the storage uses, with failures on order.
final class FakeS3: S3Transport {
    /// An event that a request meets instead of its response, or after it.
    enum Fault: Sendable {
        case status(Int, code: String)
        /// The connection is lost before the request has an effect.
        case lost
        /// The connection is lost after the request had its effect.
        case lostAfter
        /// The body of the response ends after some bytes, with an error or without.
        case cut(Int, silently: Bool)
        /// Something happens right before the request.
        case before(@Sendable () -> Void)
    }

    private struct Stored {
        var bytes: Data
        var modified: Int64
        var version: String?
    }

    private struct Upload {
        var key: String
        var started: Int64
        var parts: [Int: Data] = [:]
    }

    private struct State {
        var objects: [String: [Stored]] = [:]
        var uploads: [String: Upload] = [:]
        var requests: [S3SignedRequest] = []
        var faults: [(matches: @Sendable (S3SignedRequest) -> Bool, fault: Fault)] = []
        var now: Int64 = 1_767_225_600_000
        var number = 0
        var hasVersions = false
    }

    private let state = Mutex(State())

    struct Lost: Error {}

    /// The requests so far, such as `PUT ab/abcd`.
    var requests: [String] {
        state.withLock { state in
            state.requests.map {
                "\($0.method) \($0.url.split(separator: "/", maxSplits: 3).last ?? "")"
            }
        }
    }
    var signed: [S3SignedRequest] { state.withLock { $0.requests } }
    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
    var uploads: Int { state.withLock { $0.uploads.count } }
    var now: Int64 {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    func keepVersions() { state.withLock { $0.hasVersions = true } }

    /// Changes the bytes of an object.
    func change(_ key: String, _ body: (inout Data) -> Void) {
        state.withLock { state in
            guard var stored = state.objects[key]?.last else { return }
            body(&stored.bytes)
            state.objects[key] = [stored]
        }
    }

    /// Adds an object under any key.
    func add(_ key: String, _ bytes: Data = Data([1])) {
        state.withLock { $0.objects[key] = [Stored(bytes: bytes, modified: $0.now)] }
    }

    /// Stores the bytes of an object again, as another server would.
    func addVersion(_ key: String) {
        state.withLock { state in
            if let bytes = state.objects[key]?.last?.bytes { store(&state, key, bytes) }
        }
    }

    /// Begins an upload in parts that nobody ends.
    func leaveUpload(_ key: String) {
        state.withLock { state in
            state.number += 1
            state.uploads["left\(state.number)"] = Upload(key: key, started: state.now)
        }
    }

    func meet(
        _ faults: [Fault],
        where matches: @escaping @Sendable (S3SignedRequest) -> Bool = { _ in true }
    ) {
        state.withLock { state in state.faults += faults.map { (matches, $0) } }
    }

    func send(_ request: S3SignedRequest) async throws -> S3Response {
        let body: Data
        switch request.body {
        case .bytes(let data): body = data
        case .file(let file, let range, _):
            var data = Data()
            for try await piece in SpoolPieces(file: file, range: range) {
                data += Data(piece.readableBytesView)
            }
            body = data
        }
        let fault = state.withLock { state in
            state.requests.append(request)
            let index = state.faults.firstIndex { $0.matches(request) }
            return index.map { state.faults.remove(at: $0).fault }
        }
        if case .before(let action) = fault { action() }
        return try state.withLock { state in
            switch fault {
            case .lost: throw Lost()
            case .status(let status, let code):
                return Self.response(status, Self.error(code), as: request)
            case .lostAfter:
                _ = respond(&state, request, body)
                throw Lost()
            case .cut(let count, let silently):
                let whole = respond(&state, request, body)
                let rest = Mutex<[Data]>([whole.body.prefix(count)])
                return S3Response(status: whole.status, headers: whole.headers) {
                    if let piece = rest.withLock({ $0.popLast() }) { return piece }
                    if silently { return nil }
                    throw Lost()
                }
            case .before, nil:
                let whole = respond(&state, request, body)
                return Self.response(whole.status, whole.body, whole.headers, as: request)
            }
        }
    }

    // MARK: Responses

    private typealias Whole = (status: Int, body: Data, headers: [String: String])

    private static func response(
        _ status: Int,
        _ body: Data,
        _ headers: [String: String] = [:],
        as request: S3SignedRequest
    ) -> S3Response {
        let size = 40_000
        let pieces = stride(from: 0, to: request.method == "HEAD" ? 0 : body.count, by: size).map {
            body[(body.startIndex + $0)..<(body.startIndex + min($0 + size, body.count))]
        }
        let rest = Mutex(Array(pieces.reversed()))
        return S3Response(status: status, headers: headers) { rest.withLock { $0.popLast() } }
    }

    private static func error(_ code: String) -> Data {
        Data("<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>m</Message></Error>".utf8)
    }

    private func respond(_ state: inout State, _ request: S3SignedRequest, _ body: Data) -> Whole {
        let parts = URLComponents(string: request.url)
        var query: [String: String] = [:]
        for item in parts?.queryItems ?? [] { query[item.name] = item.value ?? "" }
        let headers = Dictionary(request.headers) { $1 }
        guard headers["x-amz-content-sha256"] == Hexadecimal.text(SHA256.hash(data: body)) else {
            return (400, Self.error("XAmzContentSHA256Mismatch"), [:])
        }
        // `/bucket/key`.
        let path = (parts?.path ?? "").dropFirst().split(separator: "/", maxSplits: 1)
        guard path.first == "bucket" else { return (404, Self.error("NoSuchBucket"), [:]) }
        let key = path.count > 1 ? String(path[1]) : nil
        switch (request.method, key) {
        case ("GET", nil):
            return query["uploads"] == nil ? list(state, query) : listUploads(state, query)
        case ("PUT", let key?):
            if let id = query["uploadId"], let number = query["partNumber"].flatMap({ Int($0) }) {
                guard state.uploads[id]?.key == key else {
                    return (404, Self.error("NoSuchUpload"), [:])
                }
                state.uploads[id]?.parts[number] = body
                return (200, Data(), ["etag": "\"part\(number)\""])
            }
            store(&state, key, body)
            return (200, Data(), ["etag": "\"whole\""])
        case ("POST", let key?): return post(&state, key, query, body)
        case ("GET", let key?), ("HEAD", let key?): return read(state, key, headers["range"])
        case ("DELETE", let key?):
            if let id = query["uploadId"] {
                return state.uploads.removeValue(forKey: id) == nil
                    ? (404, Self.error("NoSuchUpload"), [:]) : (204, Data(), [:])
            }
            if let version = query["versionId"] {
                state.objects[key]?.removeAll { $0.version == version }
                if state.objects[key]?.isEmpty == true { state.objects[key] = nil }
            } else {
                state.objects[key] = nil
            }
            return (204, Data(), [:])
        default: return (405, Self.error("MethodNotAllowed"), [:])
        }
    }

    private func store(_ state: inout State, _ key: String, _ bytes: Data) {
        state.number += 1
        let stored = Stored(
            bytes: bytes,
            modified: state.now,
            version: state.hasVersions ? "v\(state.number)" : nil
        )
        state.objects[key] = (state.hasVersions ? state.objects[key] ?? [] : []) + [stored]
    }

    private func post(
        _ state: inout State,
        _ key: String,
        _ query: [String: String],
        _ body: Data
    ) -> Whole {
        if query["uploads"] != nil {
            state.number += 1
            let id = "id&\(state.number)"
            state.uploads[id] = Upload(key: key, started: state.now)
            let text =
                "<InitiateMultipartUploadResult><UploadId>\(S3XML.escaped(id))</UploadId>"
                + "</InitiateMultipartUploadResult>"
            return (200, Data(text.utf8), [:])
        }
        guard let id = query["uploadId"], let upload = state.uploads[id] else {
            return (404, Self.error("NoSuchUpload"), [:])
        }
        let named = S3XML(body)?.all("Part").compactMap { $0["ETag"]?.text }
        guard named == upload.parts.keys.sorted().map({ "\"part\($0)\"" }) else {
            return (400, Self.error("InvalidPart"), [:])
        }
        state.uploads[id] = nil
        store(&state, key, upload.parts.sorted { $0.key < $1.key }.reduce(Data()) { $0 + $1.value })
        return (200, Data("\n  <CompleteMultipartUploadResult/>".utf8), [:])
    }

    private func read(_ state: State, _ key: String, _ range: String?) -> Whole {
        guard let stored = state.objects[key]?.last else {
            return (404, Self.error("NoSuchKey"), [:])
        }
        let start = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let bytes = Data(stored.bytes.dropFirst(start))
        let date = Date(timeIntervalSince1970: TimeInterval(stored.modified / 1000))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var headers = [
            "content-length": "\(bytes.count)", "last-modified": formatter.string(from: date),
        ]
        headers["x-amz-version-id"] = stored.version
        return (range == nil ? 200 : 206, bytes, headers)
    }

    private func list(_ state: State, _ query: [String: String]) -> Whole {
        let limit = query["max-keys"].flatMap { Int($0) } ?? 1000
        let after = query["continuation-token"].map { $0.dropFirst("after ".count) } ?? ""
        let all = state.objects.keys.sorted()
            .filter { $0.hasPrefix(query["prefix"] ?? "") && $0 > after }
        let page = all.prefix(limit)
        let rows = page.map { key in
            let date = Self.date(state.objects[key]?.last?.modified ?? 0)
            return
                "<Contents><Key>\(S3Encoding.path(key))</Key><LastModified>\(date)</LastModified>"
                + "</Contents>"
        }
        let isCut = page.count < all.count
        let next =
            isCut ? "<NextContinuationToken>after \(page.last ?? "")</NextContinuationToken>" : ""
        let text =
            "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>\(isCut)"
            + "</IsTruncated>\(next)\(rows.joined())</ListBucketResult>"
        return (200, Data(text.utf8), [:])
    }

    private func listUploads(_ state: State, _ query: [String: String]) -> Whole {
        // One on each page, in the order of their keys.
        let all = state.uploads.sorted { ($0.value.key, $0.key) < ($1.value.key, $1.key) }
        let after = (query["key-marker"] ?? "", query["upload-id-marker"] ?? "")
        let rest = all.filter { after < ($0.value.key, $0.key) }
        let rows = rest.prefix(1).map { id, upload in
            "<Upload><Key>\(S3Encoding.path(upload.key))</Key><UploadId>\(S3XML.escaped(id))</UploadId>"
                + "<Initiated>\(Self.date(upload.started))</Initiated></Upload>"
                + "<NextKeyMarker>\(S3Encoding.path(upload.key))</NextKeyMarker>"
                + "<NextUploadIdMarker>\(S3XML.escaped(id))</NextUploadIdMarker>"
        }
        let text =
            "<ListMultipartUploadsResult><EncodingType>url</EncodingType>\(rows.joined())"
            + "<IsTruncated>\(rest.count > 1)</IsTruncated></ListMultipartUploadsResult>"
        return (200, Data(text.utf8), [:])
    }

    private static func date(_ milliseconds: Int64) -> String {
        let text = ISO8601DateFormatter().string(
            from: Date(timeIntervalSince1970: TimeInterval(milliseconds / 1000))
        )
        return text.replacing("Z", with: ".000Z")
    }
}
#endif
