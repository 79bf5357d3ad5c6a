/// The parameters of a function or an initializer, as swift-format lays them out.
struct ParameterList {
    /// The declaration up to its parameters, such as `func save`.
    var declaration: String
    var line: Int
    /// The number of parameters without a label.
    var unlabelled = 0
    /// The number of parameters with a label and without a default value.
    var labelled = 0

    /// Returns the lists of a file's declarations.
    static func all(in file: SourceFile) -> [ParameterList] {
        let lines = file.lines
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard line.utf8.contains(UInt8(ascii: "(")),
                let start = line.firstMatch(of: /^( *)(?:[@a-z][\w()]* )*(func [^\s(]+|init\??)\(/)
            else { return nil }
            var list = ParameterList(declaration: String(start.output.2), line: index + 1)
            let rest = line[start.range.upperBound...]
            if rest.isEmpty {
                // One parameter a line; what is indented more belongs to its type.
                let indent = start.output.1 + "    "
                for line in lines[(index + 1)...].prefix(while: { $0.hasPrefix(indent) }) {
                    let parameter = line.dropFirst(indent.count)
                    if parameter.first != " ", parameter.first != ")" { list.add(parameter) }
                }
            } else {
                for parameter in outer(rest) { list.add(parameter) }
            }
            return list
        }
    }

    private mutating func add(_ parameter: Substring) {
        if parameter.hasPrefix("_ ") {
            unlabelled += 1
        } else if !parameter.contains(" = ") {
            labelled += 1
        }
    }

    /// Returns the parameters up to the closing parenthesis.
    private static func outer(_ text: Substring) -> [Substring] {
        var parameters: [Substring] = []
        var start = text.startIndex
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case "(", "[": depth += 1
            case ")" where depth == 0:
                if index > start { parameters.append(text[start..<index]) }
                return parameters
            case ")", "]": depth -= 1
            case "," where depth == 0:
                parameters.append(text[start..<index])
                start = text.index(after: index)
            case " " where text[start..<index].isEmpty: start = text.index(after: index)
            default: break
            }
        }
        return parameters
    }
}
