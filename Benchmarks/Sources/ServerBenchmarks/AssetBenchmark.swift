import BenchmarkHarness
import CloudKitWebClient
import Foundation
import Hummingbird

/// The transfer of one file, as an asset and as a plain file.
///
/// Both go through the same client and the same HTTP library; what the plain file spares is the
/// signed address, its single use, the checksum, the quota and, on the way down, the check of the
/// bytes. The plain file is as durable as the asset: its bytes and its name are synced.
struct AssetBench: Sendable {
    private let server: ServerBench
    /// The file that is sent, and the folder for what arrives.
    private let file: URL
    private let folder: URL
    private let megabytes: Int

    /// Creates a file of random bytes.
    init(_ server: ServerBench, megabytes: Int) throws {
        self.server = server
        self.megabytes = megabytes
        folder = server.directory.appendingPathComponent("transfers-\(megabytes)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("file")
        var generator = SystemRandomNumberGenerator()
        var bytes = Data(capacity: megabytes << 20)
        for _ in 0..<megabytes << 17 {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        try bytes.write(to: file)
    }

    // MARK: Up

    /// Requests an address for an asset, and sends the bytes to it.
    func upload() -> Work {
        Work("asset", units: Double(megabytes)) { _ = try await uploaded() }
    }

    private func uploaded() async throws -> WireAsset {
        let tokens = try await server.client.uploadTokens(
            UploadAssetsRequest(
                zoneID: WireZoneID(zoneName: ServerBench.zone),
                tokens: [.init(recordName: recordName, recordType: "Photo", fieldName: "image")]
            ),
            in: .private
        )
        let asset = try await server.client.upload(file, to: tokens.tokens[0])
        guard asset.size == Int64(megabytes) << 20 else {
            throw BenchError(description: "An asset of \(asset.size ?? 0) bytes")
        }
        return asset
    }

    /// Sends the bytes to a handler that writes them to a file.
    func plainUpload() async throws -> Work {
        let address = try await Self.plainServer(folder) + "/file"
        return Work("plain file", units: Double(megabytes)) {
            let response = try await server.client.transport.upload(file, to: address) { _ in }
            guard response.status == 200 else {
                throw BenchError(description: "The plain upload had status \(response.status)")
            }
        }
    }

    // MARK: Down

    /// Downloads an asset of a record into a new file.
    func download() async throws -> Work {
        var record = WireRecord(recordName: recordName, recordType: "Photo")
        record.fields = ["image": WireField(.asset(try await uploaded()))]
        let zoneID = WireZoneID(zoneName: ServerBench.zone)
        let response = try await server.client.modifyRecords(
            ModifyRecordsRequest(operations: [.init(.forceReplace, record)], zoneID: zoneID),
            in: .private
        )
        guard case .success(let saved)? = response.records.first,
            case .asset(let asset)? = saved.fields["image"]?.value,
            let address = asset.downloadURL?.replacing("${f}", with: "image")
        else { throw BenchError(description: "The record came back without its asset") }
        return downloads("asset", from: address)
    }

    /// Downloads the same bytes from a handler that reads them from a file.
    func plainDownload() async throws -> Work {
        let address = try await Self.plainServer(folder) + "/file"
        let response = try await server.client.transport.upload(file, to: address) { _ in }
        guard response.status == 200 else {
            throw BenchError(description: "The plain upload had status \(response.status)")
        }
        return downloads("plain file", from: address)
    }

    /// Returns the work of downloading with the transport alone, because the client's own check of
    /// the checksum is not the server's.
    private func downloads(_ name: String, from address: String) -> Work {
        Work(name, units: Double(megabytes)) {
            let arrived = folder.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: arrived) }
            try await server.client.transport.download(address, to: arrived) { _ in }
            let facts = try FileManager.default.attributesOfItem(atPath: arrived.path)
            guard facts[.size] as? Int == megabytes << 20 else {
                throw BenchError(description: "\(name): \(facts[.size] ?? 0) bytes arrived")
            }
        }
    }

    // MARK: Memory

    /// Returns a benchmark of the memory that client and server need beyond what the process holds
    /// while the file goes up and comes down, in megabytes; the median of five transfers.
    ///
    /// The whole file, or a queue of its pieces that nobody bounds, would show.
    static func memory(_ name: String, _ bar: Bar, _ bench: Prepared<AssetBench>) -> Benchmark {
        Benchmark(name: name, bar: bar) { _ in
            let bench = try await bench.value
            let down = try await bench.download()
            let work = Work("up and down") {
                _ = try await bench.uploaded()
                try await down.body()
            }
            // What the allocator keeps is there from now on.
            try await work.body()
            var peaks: [Double] = []
            for _ in 0..<5 { peaks.append(try await Benchmark.peakMegabytes(of: work)) }
            peaks.sort()
            return Figure(
                peaks[2],
                detail: "megabytes while \(bench.megabytes) MB went up and came down; five times, "
                    + "from \(Figure(peaks[0], detail: "").value) to "
                    + "\(Figure(peaks[4], detail: "").value)"
            )
        }
    }

    private var recordName: String { "photo-\(megabytes)" }

    // MARK: The floor

    /// Starts a server that takes one file and hands it out again.
    private static func plainServer(_ folder: URL) async throws -> String {
        let path = folder.appendingPathComponent("plain").path
        let router = Router()
        router.post("file") { request, _ in
            let temporary = path + "-" + UUID().uuidString
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            guard descriptor >= 0 else { throw HTTPError(.internalServerError) }
            defer { close(descriptor) }
            for try await buffer in request.body {
                let isWritten = buffer.withUnsafeReadableBytes { bytes in
                    write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
                }
                guard isWritten else { throw HTTPError(.internalServerError) }
            }
            guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
                throw HTTPError(.internalServerError)
            }
            let names = open(folder.path, O_RDONLY | O_DIRECTORY)
            defer { close(names) }
            guard fsync(names) == 0 else { throw HTTPError(.internalServerError) }
            return Response(status: .ok)
        }
        router.get("file") { _, context in
            Response(
                status: .ok,
                body: try await FileIO().loadFile(path: path, context: context)
            )
        }
        return try await PlainServer.start(router)
    }
}
