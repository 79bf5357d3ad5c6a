import Foundation

/// The check of a model file's bytes before an XML parser reads them.
///
/// It refuses constructs that models do not have, and that could make a parser expand a few bytes
/// into gigabytes, read other files, or compare each attribute of an element with all others.
enum ModelXMLCheck {
    static let noDeclarations = "a model declares no document type and no entities"

    /// The marks with which editors begin files in other encodings; those of 32 bits first, which begin like others.
    private static let marks: [(bytes: [UInt8], encoding: String)] = [
        ([0xFF, 0xFE, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF], "UTF-32"),
        ([0xFF, 0xFE], "UTF-16"), ([0xFE, 0xFF], "UTF-16"),
    ]

    /// Returns a model's text without the mark with which some editors begin UTF-8.
    static func text(of data: Data) throws(CoreDataModelError) -> Data {
        if let mark = marks.first(where: { data.starts(with: $0.bytes) }) {
            throw CoreDataModelError(
                .malformed,
                "it begins with the byte order mark of \(mark.encoding), and models are in UTF-8; save it in Xcode, or "
                    + "convert it to UTF-8"
            )
        }
        let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(data.dropFirst(3)) : data
        try check(text)
        return text
    }

    private static func check(_ data: Data) throws(CoreDataModelError) {
        guard String(validating: data, as: UTF8.self) != nil, !data.contains(0) else {
            throw CoreDataModelError(
                .malformed,
                "this is not UTF-8 text; files of Xcode 3, elements and layout, are not read: open the "
                    + "model in Xcode and save it"
            )
        }
        let failure = data.withUnsafeBytes { scan($0) }
        if let failure { throw failure }
    }

    /// Scans the bytes once.
    private static func scan(_ bytes: UnsafeRawBufferPointer) -> CoreDataModelError? {
        var line = 1
        var attributes = 0
        for place in bytes.indices {
            switch bytes[place] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "<"):
                attributes = 0
                if starts("<!DOCTYPE", bytes, place) || starts("<!ENTITY", bytes, place) {
                    return CoreDataModelError(.malformed, "line \(line)", noDeclarations)
                }
                if starts("<?xml", bytes, place), let encoding = encoding(bytes, place),
                    encoding != "utf-8", encoding != "us-ascii"
                {
                    return CoreDataModelError(
                        .malformed,
                        "line \(line)",
                        "the encoding is \(encoding); models are in UTF-8"
                    )
                }
            case UInt8(ascii: "="):
                attributes += 1
                if attributes > ModelXMLParser.Limit.attributesOfElement {
                    return CoreDataModelError(
                        .tooLarge,
                        "line \(line)",
                        "an element has more than \(ModelXMLParser.Limit.attributesOfElement) "
                            + "attributes, or as many equal signs in them"
                    )
                }
            default: break
            }
        }
        return nil
    }

    private static func starts(
        _ word: StaticString,
        _ bytes: UnsafeRawBufferPointer,
        _ place: Int
    ) -> Bool {
        guard bytes.count - place >= word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            word.indices.allSatisfy { word[$0] == bytes[place + $0] }
        }
    }

    /// Returns the encoding in an XML declaration, in lower case.
    private static func encoding(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> String? {
        let end = min(bytes.count, place + 200)
        let text = String(decoding: bytes[place..<end], as: UTF8.self).prefix { $0 != ">" }
        return text.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/).map { $0.1.lowercased() }
    }
}
