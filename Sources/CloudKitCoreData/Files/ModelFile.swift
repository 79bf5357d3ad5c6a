import CloudKitBasics
import Foundation

/// The files and folders of a model.
enum ModelFile {
    /// A limit of versions that no app reaches.
    private static let mostVersions = 1000
    /// A limit that no compiled model approaches; that of XML is lower.
    private static let mostBytes = 64 << 20

    /// Returns the versions in a folder.
    static func parts(of folder: URL, suffix: String) throws(CoreDataModelError) -> [URL] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw missing(folder)
        }
        let parts = names.filter { $0.hasSuffix("." + suffix) && !$0.hasPrefix(".") }.sorted()
        guard parts.count <= mostVersions else {
            throw CoreDataModelError(
                .tooLarge,
                folder.lastPathComponent,
                "it has \(parts.count) versions; up to \(mostVersions) are read"
            )
        }
        return parts.map { folder.appendingPathComponent($0) }
    }

    /// Returns the name of the current version, without the suffix of its file.
    static func currentName(of folder: URL) throws(CoreDataModelError) -> String? {
        let isCompiled = folder.pathExtension == "momd"
        let file = folder.appendingPathComponent(
            isCompiled ? "VersionInfo.plist" : ".xccurrentversion"
        )
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let data = try read(file, limit: 1 << 20)
        let key = isCompiled ? "NSManagedObjectModel_CurrentVersionName" : "_XCCurrentVersionName"
        let text: String?
        do {
            text =
                data.starts(with: Array("bplist0".utf8))
                ? try currentName(binary: data, key) : try currentName(xml: data, key)
        } catch {
            throw error.within("\(folder.lastPathComponent)/\(file.lastPathComponent)")
        }
        guard let text else { return nil }
        return text.hasSuffix(".xcdatamodel") ? String(text.dropLast(12)) : text
    }

    private static func currentName(
        binary data: Data,
        _ key: String
    ) throws(CoreDataModelError) -> String? {
        let list = try BinaryPropertyList(data)
        guard case .dictionary(let pairs) = try list.content(list.top) else { return nil }
        for pair in pairs {
            guard case .string(key) = try list.content(pair.key),
                case .string(let name) = try list.content(pair.value)
            else { continue }
            return name
        }
        return nil
    }

    /// Reads the property list as XML, except for its document type declaration.
    private static func currentName(
        xml data: Data,
        _ key: String
    ) throws(CoreDataModelError) -> String? {
        var text = String(decoding: data, as: UTF8.self)
        if let type = text.firstRange(of: /<!DOCTYPE[^>\[]*>/) { text.removeSubrange(type) }
        let list = try ModelXMLParser.parse(Data(text.utf8))
        let children = list.children.first?.children ?? []
        guard let place = children.firstIndex(where: { $0.name == "key" && $0.text == key }),
            place + 1 < children.count, children[place + 1].name == "string"
        else { return nil }
        return children[place + 1].text
    }

    /// Reads a version: a folder with `contents`, that file itself, or a compiled model.
    static func model(_ url: URL) throws(CoreDataModelError) -> CoreDataModel {
        var file = url
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
            isFolder.boolValue
        {
            file = url.appendingPathComponent("contents")
            if !FileManager.default.fileExists(atPath: file.path) {
                let old = url.appendingPathComponent("elements")
                let isOld = FileManager.default.fileExists(atPath: old.path)
                throw CoreDataModelError(
                    isOld ? .unsupported : .unreadable,
                    url.lastPathComponent,
                    isOld
                        ? "this is a model of Xcode 3, which is not read; open it in Xcode and save it"
                        : "there is no file contents in it"
                )
            }
        }
        do {
            let data = try read(file, limit: mostBytes)
            return data.starts(with: Array("bplist0".utf8))
                ? try ArchivedModelReader.model(data) : try ModelXMLReader.model(data)
        } catch {
            throw error.within(url.lastPathComponent)
        }
    }

    /// Reads a plain file up to a size.
    static func read(_ file: URL, limit: Int) throws(CoreDataModelError) -> Data {
        // The error below names the file.
        let values = try? file.resolvingSymlinksInPath().resourceValues(
            forKeys: [.isRegularFileKey, .fileSizeKey]
        )
        guard values?.isRegularFile == true, let size = values?.fileSize else {
            throw missing(file)
        }
        guard size <= limit else {
            throw CoreDataModelError(
                .tooLarge,
                file.lastPathComponent,
                "the file has \(size) bytes; up to \(limit) are read"
            )
        }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw missing(file)
        }
    }

    private static func missing(_ file: URL) -> CoreDataModelError {
        CoreDataModelError(.unreadable, file.path, "there is no file or folder that can be read")
    }
}
