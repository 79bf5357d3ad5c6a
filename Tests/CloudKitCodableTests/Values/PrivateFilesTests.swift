import CloudKitFiles
import Foundation
import Synchronization
import Testing

@Suite("The folder of the process's files")
struct PrivateFilesTests {
    /// A folder for folders, and a clock that stands still until it is moved.
    private final class Place: Sendable {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "private-files-\(UUID().uuidString)", directoryHint: .isDirectory)
        let time = Mutex(Duration.zero)

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func files(limit: Int64) -> PrivateFiles {
            PrivateFiles(in: url, limit: limit) { [self] in time.withLock { $0 } }
        }

        func pass(minutes: Int) { time.withLock { $0 += .seconds(60 * minutes) } }

        var contents: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
        }
    }

    private func write(_ files: PrivateFiles, bytes: Int = 10) throws -> URL {
        let file = try files.newPlace()
        try Data(repeating: 1, count: bytes).write(to: file)
        files.take(file)
        return file
    }

    private func isThere(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    @Test("Those go first that were used least recently, and none within an hour of its use")
    func room() throws {
        let place = try Place()
        let files = place.files(limit: 30)
        let first = try write(files)
        let second = try write(files)
        for file in [first, second] {
            files.use(file)
            files.release(file)
        }
        // Over the limit, but everything was used within the hour.
        place.pass(minutes: 59)
        let third = try write(files, bytes: 20)
        #expect(isThere(first) && isThere(second) && isThere(third))
        // The first is used again, so the second is deleted.
        files.use(first)
        place.pass(minutes: 2)
        let fourth = try write(files, bytes: 1)
        #expect(isThere(first) && !isThere(second) && isThere(third) && isThere(fourth))
    }

    @Test("A file that an object stands for goes after the others, and the object notices")
    func held() throws {
        let place = try Place()
        let files = place.files(limit: 15)
        let held = try write(files)
        let loose = try write(files)
        files.use(loose)
        files.release(loose)
        place.pass(minutes: 61)
        let next = try write(files, bytes: 5)
        #expect(isThere(held) && !isThere(loose) && files.use(held))
        place.pass(minutes: 61)
        _ = try write(files, bytes: 15)
        #expect(!isThere(held) && !files.use(held) && !isThere(next))
    }

    @Test("A file goes with its object, unless its place was handed out")
    func release() throws {
        let files = try Place().files(limit: 100)
        let silent = try write(files)
        let known = try write(files)
        files.use(known)
        files.release(silent)
        files.release(known)
        #expect(!isThere(silent) && isThere(known))
    }

    @Test("The folder is the user's alone, has a name of its own, and goes with its object")
    func folder() throws {
        let place = try Place()
        var files: PrivateFiles? = place.files(limit: 100)
        let file = try write(try #require(files))
        let folder = file.deletingLastPathComponent()
        let facts = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        let fileFacts = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((fileFacts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try place.contents == [folder.lastPathComponent])
        files = nil
        #expect(try place.contents.isEmpty)
    }

    @Test("The process's own folder goes when the process ends")
    func exit() async throws {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent]
        ) {
            let file = try PrivateFiles.shared.newPlace()
            try Data([1]).write(to: file)
            PrivateFiles.shared.take(file)
            print("file: \(file.path)")
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("file: ") })
        let file = URL(filePath: String(line.dropFirst("file: ".count)))
        #expect(file.lastPathComponent.isEmpty == false)
        #expect(!isThere(file) && !isThere(file.deletingLastPathComponent()))
    }

    @Test("A link outlives the file that it was made of")
    func link() throws {
        let place = try Place()
        let files = place.files(limit: 100)
        let original = place.url.appending(path: "original.txt")
        try Data("text".utf8).write(to: original)
        let link = try files.link(to: original)
        try FileManager.default.removeItem(at: original)
        #expect(try Data(contentsOf: link) == Data("text".utf8))
        #expect(link.pathExtension == "txt")
    }

    @Test("The next start removes what dead processes left, and nothing of those that live")
    func dead() throws {
        let place = try Place()
        let living = place.files(limit: 100)
        let file = try write(living)
        // A process with another name creates such a folder and ends without deleting it.
        let dead = place.url.appending(path: "CloudKit-files-dead", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: false)
        try Data([1]).write(to: dead.appending(path: "left"))
        let other = place.url.appending(path: "somebody's", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)

        // A folder whose lock another process holds.
        let held = place.url.appending(path: "CloudKit-files-held", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: held, withIntermediateDirectories: false)
        let holder = Process()
        holder.executableURL = URL(filePath: "/usr/bin/env")
        // Without a child, which would hold the lock when its parent is killed.
        holder.arguments = ["flock", "--no-fork", held.path, "sh", "-c", "echo locked; read line"]
        let (input, output) = (Pipe(), Pipe())
        holder.standardInput = input
        holder.standardOutput = output
        try holder.run()
        #expect(
            String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                .hasPrefix("locked")
        )

        let next = place.files(limit: 100)
        _ = try next.newPlace()
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: held.path))
        #expect(FileManager.default.fileExists(atPath: other.path))
        #expect(isThere(file))

        // Killed, it leaves its folder to the next process.
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        try input.fileHandleForWriting.close()
        _ = try place.files(limit: 100).newPlace()
        #expect(!FileManager.default.fileExists(atPath: held.path))
        #expect(isThere(file))
    }

    @Test("A folder that somebody removed is made again")
    func removed() throws {
        let files = try Place().files(limit: 100)
        try FileManager.default.removeItem(at: try files.folder())
        #expect(isThere(try write(files)))
    }
}
