import CloudKitWire

/// Reads the schema language ("Integrating a Text-Based Schema into Your Workflow").
struct SchemaParser {
    private var lexer: SchemaLexer
    private var token: SchemaLexer.Token
    private var definition = SchemaDefinition()

    /// Reads a whole text.
    ///
    /// - Throws: `SchemaSyntaxError` with the place.
    static func parse(_ text: String) throws(SchemaSyntaxError) -> SchemaDefinition {
        var parser = try SchemaParser(text)
        return try parser.schema()
    }

    private init(_ text: String) throws(SchemaSyntaxError) {
        lexer = SchemaLexer(text)
        token = try lexer.next()
    }

    private mutating func schema() throws(SchemaSyntaxError) -> SchemaDefinition {
        try keyword("DEFINE")
        try keyword("SCHEMA")
        while token.kind != .end {
            if token.isKeyword("CREATE") {
                try role()
            } else {
                try recordType()
            }
            try mark(";")
        }
        return definition
    }

    private mutating func role() throws(SchemaSyntaxError) {
        try keyword("CREATE")
        try keyword("ROLE")
        let place = token
        let name = try self.name()
        guard definition.roles.insert(name).inserted else {
            throw failure("The role \(name) is defined twice", at: place)
        }
    }

    private mutating func recordType() throws(SchemaSyntaxError) {
        try keyword("RECORD")
        try keyword("TYPE")
        let place = token
        let name = try self.name()
        guard definition.types[name] == nil else {
            throw failure("The record type \(name) is defined twice", at: place)
        }
        var type = SchemaDefinition.RecordType()
        try mark("(")
        while true {
            if token.isKeyword("GRANT") {
                try grant(in: &type)
            } else {
                try field(in: &type)
            }
            if token.text != "," || token.kind != .mark { break }
            try mark(",")
        }
        try mark(")")
        definition.types[name] = type
    }

    private mutating func grant(
        in type: inout SchemaDefinition.RecordType
    )
        throws(SchemaSyntaxError)
    {
        try keyword("GRANT")
        var grant: RecordTypeSchema.Grant = []
        while true {
            switch token.text.uppercased() {
            case "READ": grant.insert(.read)
            case "CREATE": grant.insert(.create)
            case "WRITE": grant.insert(.write)
            default: throw expected("READ, CREATE or WRITE")
            }
            try advance()
            if token.text != "," || token.kind != .mark { break }
            try mark(",")
        }
        try keyword("TO")
        let place = token
        let role = try name()
        let builtIn = ["_world", "_icloud", "_creator"]
        guard builtIn.contains(role) || definition.roles.contains(role) else {
            throw failure("There is no role \(role); CREATE ROLE \(role); makes one", at: place)
        }
        type.grants = type.grants ?? [:]
        type.grants?[role, default: []].formUnion(grant)
    }

    private mutating func field(
        in type: inout SchemaDefinition.RecordType
    )
        throws(SchemaSyntaxError)
    {
        let place = token
        let name = try self.name()
        guard type.fields[name] == nil else {
            throw failure("The field \(name) is defined twice", at: place)
        }
        if name.first == "_", SystemField(name: name) == nil, name != "___etag" {
            throw failure("There is no system field \(name)", at: place)
        }
        var field = try fieldType()
        while token.kind == .word {
            let index = token
            switch token.text.uppercased() {
            case "QUERYABLE": field.indexes.insert(.queryable)
            case "SORTABLE": field.indexes.insert(.sortable)
            case "SEARCHABLE": field.indexes.insert(.searchable)
            default: throw expected("QUERYABLE, SORTABLE, SEARCHABLE, ',' or ')'")
            }
            let possible = FieldSchema.everyIndex(for: field.type)
            guard !field.isEncrypted, possible.isSuperset(of: field.indexes) else {
                let type = field.type.schemaText
                throw failure("A field of type \(type) cannot be \(index.text)", at: index)
            }
            try advance()
        }
        if name == "___etag" { return }
        if let system = SystemField(name: name), system.schemaName == name,
            field.type.scalar != system.type
        {
            throw failure("\(name) is a \(system.type.rawValue)", at: place)
        }
        type.fields[name] = field
    }

    private mutating func fieldType() throws(SchemaSyntaxError) -> SchemaDefinition.Field {
        if token.isKeyword("LIST") {
            try advance()
            try mark("<")
            let scalar = try self.scalar()
            try mark(">")
            return SchemaDefinition.Field(type: FieldType(listOf: scalar))
        }
        if token.isKeyword("ENCRYPTED") {
            try advance()
            let place = token
            let scalar = try self.scalar()
            guard scalar != .reference, scalar != .asset else {
                throw failure("\(place.text) cannot be encrypted", at: place)
            }
            return SchemaDefinition.Field(type: FieldType(scalar), isEncrypted: true)
        }
        return SchemaDefinition.Field(type: FieldType(try scalar()))
    }

    private mutating func scalar() throws(SchemaSyntaxError) -> FieldType.Scalar {
        let place = token
        guard token.kind == .word else { throw expected("a type") }
        let word = token.text.uppercased()
        try advance()
        if word == "NUMBER" { return try number() }
        if word == "ASSET" { return .asset }
        guard let scalar = FieldType.Scalar(rawValue: word), scalar != .asset else {
            throw failure("There is no type \(place.text)", at: place)
        }
        return scalar
    }

    /// A number that was made just in time; without a preference it holds any number.
    private mutating func number() throws(SchemaSyntaxError) -> FieldType.Scalar {
        guard token.isKeyword("PREFERRED") else { return .double }
        try advance()
        try keyword("AS")
        switch token.text.uppercased() {
        case "INT64":
            try advance()
            return .int64
        case "DOUBLE":
            try advance()
            return .double
        default: throw expected("INT64 or DOUBLE")
        }
    }

    private mutating func name() throws(SchemaSyntaxError) -> String {
        guard token.kind == .word || token.kind == .quoted, !token.text.isEmpty else {
            throw expected("a name")
        }
        let name = token.text
        try advance()
        return name
    }

    private mutating func keyword(_ keyword: String) throws(SchemaSyntaxError) {
        guard token.isKeyword(keyword) else { throw expected("\"\(keyword)\"") }
        try advance()
    }

    private mutating func mark(_ mark: String) throws(SchemaSyntaxError) {
        guard token.kind == .mark, token.text == mark else { throw expected("\"\(mark)\"") }
        try advance()
    }

    private mutating func advance() throws(SchemaSyntaxError) { token = try lexer.next() }

    private func expected(_ what: String) -> SchemaSyntaxError {
        failure("Encountered \"\(token.text)\". Was expecting \(what)", at: token)
    }

    private func failure(_ message: String, at place: SchemaLexer.Token) -> SchemaSyntaxError {
        SchemaSyntaxError(line: place.line, column: place.column, message: message)
    }
}
