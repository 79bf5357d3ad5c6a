import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// A parser of a model file's XML, within the limits of a model.
enum ModelXMLParser {
    /// Limits that no app's model approaches.
    enum Limit {
        /// The limit of libxml2, which `XMLParser` cannot raise.
        static let bytes = 10_000_000
        static let elements = 200_000
        static let depth = 32
        static let attributesOfElement = 500
    }

    /// Returns the root element.
    ///
    /// - Throws: ``CoreDataModelError`` with the line.
    static func parse(_ data: Data) throws(CoreDataModelError) -> ModelXMLNode {
        guard data.count <= Limit.bytes else {
            throw CoreDataModelError(
                .tooLarge,
                "the file has \(data.count) bytes; the XML parser reads models of up to \(Limit.bytes)"
            )
        }
        let text = try ModelXMLCheck.text(of: data)
        let builder = Builder()
        let parser = XMLParser(data: text)
        parser.delegate = builder
        let isRead = parser.parse()
        if let failure = builder.failure { throw failure }
        // After some errors the parser goes on, and returns true.
        guard isRead, builder.error == nil, let top = builder.top else {
            let error = builder.error ?? (parser.lineNumber, parser.parserError as NSError?)
            let reason = error.reason.map { ": error \($0.code) of the parser" }
            throw CoreDataModelError(
                .malformed,
                "line \(error.line)",
                "this is not well-formed XML\(reason ?? "")"
            )
        }
        return top
    }

    /// The builder of the tree, which ignores further input after the first problem.
    private final class Builder: NSObject, XMLParserDelegate {
        private var open: [ModelXMLNode] = []
        private var count = 0
        private(set) var top: ModelXMLNode?
        private(set) var failure: CoreDataModelError?
        /// The parser's first error, and its line.
        private(set) var error: (line: Int, reason: NSError?)?

        private func fail(_ code: CoreDataModelError.Code, _ message: String, _ parser: XMLParser) {
            guard failure == nil else { return }
            failure = CoreDataModelError(code, "line \(parser.lineNumber)", message)
            open = []
            top = nil
            parser.abortParsing()
        }

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            guard failure == nil else { return }
            count += 1
            if count > Limit.elements {
                fail(.tooLarge, "the model has more than \(Limit.elements) elements", parser)
            } else if open.count >= Limit.depth {
                fail(.tooLarge, "more than \(Limit.depth) nested elements", parser)
            } else {
                open.append(
                    ModelXMLNode(name: name, attributes: attributes, line: parser.lineNumber)
                )
            }
        }

        func parser(
            _ parser: XMLParser,
            didEndElement name: String,
            namespaceURI: String?,
            qualifiedName: String?
        ) {
            guard failure == nil, let node = open.popLast() else { return }
            if open.isEmpty {
                top = node
            } else {
                open[open.count - 1].children.append(node)
            }
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard failure == nil, !text.isEmpty, !open.isEmpty else { return }
            open[open.count - 1].text += text
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
            guard self.error == nil else { return }
            self.error = (parser.lineNumber, error as NSError)
        }

        // The previous check refuses these, but the parser might see more.

        func parser(
            _ parser: XMLParser,
            foundInternalEntityDeclarationWithName name: String,
            value: String?
        ) {
            fail(.malformed, ModelXMLCheck.noDeclarations, parser)
        }

        func parser(
            _ parser: XMLParser,
            foundExternalEntityDeclarationWithName name: String,
            publicID: String?,
            systemID: String?
        ) {
            fail(.malformed, ModelXMLCheck.noDeclarations, parser)
        }
    }
}
