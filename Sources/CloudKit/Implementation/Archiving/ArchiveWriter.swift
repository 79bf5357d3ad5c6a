import CloudKitBasics
import Foundation

/// Writes the system fields of a record as a keyed archive, in place of Foundation's archiver.
///
/// Foundation's takes twenty times as long. The format is that of Apple's archives: a binary
/// property list with all objects in one array, in which references are indices.
final class ArchiveWriter: NSCoder {
    private var list = BinaryPropertyListWriter()
    /// The archive's objects, as numbers of the list.
    private var objects: [Int] = []
    /// The indices of the objects that were written.
    private var written: [ObjectIdentifier: Int] = [:]
    private var texts: [String: Int] = [:]
    private var classes: [String: Int] = [:]
    /// The values of the top and of the objects that are being written, outermost first.
    private var containers: [[BinaryPropertyList.Pair]] = [[]]
    /// `false` when the record has objects of other classes, which might encode anything.
    private var canWrite = true

    override init() {
        super.init()
        // The first object represents nil.
        objects.append(list.add(.string("$null")))
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    /// Returns the archive; nil if it has objects that only Foundation's archiver writes.
    func data() -> Data? {
        guard canWrite else { return nil }
        let parts: [(String, BinaryPropertyList.Object)] = [
            ("$version", .integer(100_000)),
            ("$archiver", .string("NSKeyedArchiver")),
            ("$top", .dictionary(containers[0])),
            ("$objects", .array(objects)),
        ]
        let top = list.add(.dictionary(parts.map(pair)))
        return Data(list.bytes(top: top))
    }

    private func pair(
        _ key: String,
        _ value: BinaryPropertyList.Object
    ) -> BinaryPropertyList.Pair {
        BinaryPropertyList.Pair(key: list.add(.string(key)), value: list.add(value))
    }

    private func set(_ value: BinaryPropertyList.Object, _ key: String) {
        containers[containers.count - 1].append(pair(key, value))
    }

    override func encode(_ value: Bool, forKey key: String) { set(.boolean(value), key) }

    override func encode(_ value: Int64, forKey key: String) { set(.integer(value), key) }

    override func encode(_ object: Any?, forKey key: String) {
        set(.reference(object.map(index) ?? 0), key)
    }

    /// Returns the index of an object, which is written unless it has been before.
    private func index(_ object: Any) -> Int {
        // Comparing types takes a nanosecond, a cast that fails a hundred times as long.
        let type = type(of: object)
        if type == CKRecordZoneID.self, let id = object as? CKRecordZoneID {
            return index(id, "CKRecordZoneID")
        }
        if type == CKRecordID.self, let id = object as? CKRecordID {
            return index(id, "CKRecordID")
        }
        if type == CKReference.self, let reference = object as? CKReference {
            return index(reference, "CKReference")
        }
        switch object {
        case let text as NSString: return index(text as String)
        case let date as NSDate: return index(date)
        default:
            canWrite = false
            return 0
        }
    }

    private func index(_ object: some NSObject & NSCoding, _ name: String) -> Int {
        let identity = ObjectIdentifier(object)
        if let index = written[identity] { return index }
        let index = reserve()
        written[identity] = index
        containers.append([])
        object.encode(with: self)
        let values = containers.removeLast()
        objects[index] = list.add(.dictionary(values + [classPair(name)]))
        return index
    }

    private func index(_ text: String) -> Int {
        if let index = texts[text] { return index }
        let index = reserve()
        texts[text] = index
        objects[index] = list.add(.string(text))
        return index
    }

    private func index(_ date: NSDate) -> Int {
        let index = reserve()
        let time = pair("NS.time", .real(date.timeIntervalSinceReferenceDate))
        objects[index] = list.add(.dictionary([time, classPair("NSDate")]))
        return index
    }

    private func classPair(_ name: String) -> BinaryPropertyList.Pair {
        pair("$class", .reference(classIndex(name)))
    }

    private func classIndex(_ name: String) -> Int {
        if let index = classes[name] { return index }
        let index = reserve()
        classes[name] = index
        let names = [list.add(.string(name)), list.add(.string("NSObject"))]
        let description = [
            pair("$classname", .string(name)), pair("$classes", .array(names)),
        ]
        objects[index] = list.add(.dictionary(description))
        return index
    }

    /// Returns the index of an object that is about to be written.
    private func reserve() -> Int {
        objects.append(0)
        return objects.count - 1
    }
}
